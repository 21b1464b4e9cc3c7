declare module '@vercel/ncc' {
  /** The part of webpack's modules that the build reads. */
  interface BundledModule {
    resource?: string;
    /** The modules that were joined into this one. */
    modules?: Iterable<BundledModule>;
  }

  interface Bundle {
    code: string;
    /** The other files, by name. */
    assets: Record<string, { source: string | Buffer }>;
    stats: { compilation: { modules: Iterable<BundledModule> } };
  }

  export default function ncc(
    entry: string,
    options: {
      filename: string;
      cache: false;
      quiet: boolean;
      target: string;
      externals?: Record<string, string>;
    },
  ): Promise<Bundle>;
}
