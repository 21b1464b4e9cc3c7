import { Disposer } from '../base/disposal.ts';
import { Secret } from '../base/redaction.ts';
import { joinCommand, splitCommand } from '../server/split-command.ts';
import { nameDirectories, resolveWords } from '../server/start-in-place.ts';
import { makeTemporaryRoot, removeTree } from '../server/temporary-root.ts';
import { createPlaces } from '../workspace/place.ts';
import { showPaths } from '../workspace/placeholders.ts';
import { readWorkspace } from '../workspace/workspace.ts';
import type { PlannedServer } from './plan/plan-server.ts';

/** A planned server that starts in a copy of a workspace. Disposing it removes the copy. */
export interface PlacedServer extends AsyncDisposable {
  server: PlannedServer;
}

const prefix = 'mcp-eval-ci-place-';

/**
 * Plans the start of a server in a copy of a workspace, for a command that examines it. A server without a command, or no workspace, leaves
 * the plan as it is.
 *
 * @throws {ConfigurationError} if the workspace cannot be copied
 */
export async function placeServer(
  server: PlannedServer,
  { workspace, cwd }: { workspace: string | null; cwd: string },
): Promise<PlacedServer> {
  await using resources = new Disposer();
  if (workspace === null || server.command === null) return { server, [Symbol.asyncDispose]: async () => {} };
  const files = await readWorkspace(workspace, cwd);
  const root = makeTemporaryRoot(prefix);
  resources.defer(() => removeTree(root));
  const { paths } = resources.use(await createPlaces(root).open(files));
  const { command, environment, sandbox } = server;
  const words = resolveWords(splitCommand(command), server.cwd).map((word) => showPaths(word, paths));
  const variables = [...environment].map(([name, value]): [string, Secret] => [
    name,
    new Secret(showPaths(value.reveal(), paths)),
  ]);
  const directories = Object.entries(nameDirectories(paths)).map(([name, value]): [string, Secret] => [
    name,
    new Secret(value),
  ]);
  const kept = resources.move();
  return {
    server: {
      ...server,
      command: joinCommand(words),
      cwd: paths.workspace,
      environment: new Map([...variables, ...directories]),
      sandbox: sandbox === null ? null : { ...sandbox, writable: [...sandbox.writable, root] },
    },
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  };
}
