/**
 * The commands of the eval service, which is its own package: `packages/eval-service`. The package builds on the gate, and only this file
 * of the gate imports it. Each command is loaded on demand.
 */
export const serviceCommands = {
  loadServe: async () => (await import('../../packages/eval-service/src/cli/serve.ts')).defineServeCommand,
  loadApi: async () => (await import('../../packages/eval-service/src/cli/api.ts')).defineApiCommand,
  loadSync: async () => (await import('../../packages/eval-service/src/cli/sync.ts')).defineSyncCommand,
  loadPull: async () => (await import('../../packages/eval-service/src/cli/sync.ts')).definePullCommand,
};
