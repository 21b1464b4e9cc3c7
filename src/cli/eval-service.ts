/**
 * The commands of the eval service, which is a package of its own: `packages/eval-service`. It builds on the gate, and no other file of the
 * gate knows it. Each command is loaded when it is asked for.
 */
export const serviceCommands = {
  loadServe: async () => (await import('../../packages/eval-service/src/cli/serve.ts')).defineServeCommand,
  loadApi: async () => (await import('../../packages/eval-service/src/cli/api.ts')).defineApiCommand,
  loadSync: async () => (await import('../../packages/eval-service/src/cli/sync.ts')).defineSyncCommand,
  loadPull: async () => (await import('../../packages/eval-service/src/cli/sync.ts')).definePullCommand,
};
