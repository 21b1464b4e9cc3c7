/** The product's name and version for reports and the User-Agent; a test compares them with package.json. */
export const generator = { name: 'mcp-eval-ci', version: '0.1.0' } as const;

/** Returns the address of a page of the documentation, or of a heading of it: `hardening.md`. The repository of a user has no such page. */
export function linkPage(page: string): string {
  return linkFile(`docs/${page}`);
}

/** Returns the address of a file of this repository. */
export function linkFile(path: string): string {
  return `https://github.com/your-org/mcp-eval-ci/blob/v${generator.version}/${path}`;
}
