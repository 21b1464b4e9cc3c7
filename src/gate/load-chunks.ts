/**
 * Loads every part that a gate loads lazily, so that the server under test cannot overwrite a file that is still to be loaded. The
 * post step and a dry run need none of them.
 */
export async function loadChunks(): Promise<void> {
  await Promise.all([
    import('../embedded/open.ts'),
    import('../engine/judge-trace.ts'),
    import('./run/job-tunnel.ts'),
    import('../report/html/page.ts'),
    import('../server/open.ts'),
  ]);
}
