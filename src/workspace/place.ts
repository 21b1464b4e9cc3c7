import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mapTexts } from './placeholders.ts';
import { copyWorkspace, type Workspace } from './workspace.ts';

/** The directories of a place, by the names of their placeholders. */
export interface PlacePaths {
  /** A copy of the files, and the working directory of the server. */
  workspace: string;
  home: string;
  tmp: string;
}

/** A new copy of a workspace, with its own HOME and temporary directory. Disposing it removes the directories. */
export interface Place extends AsyncDisposable {
  readonly paths: PlacePaths;
}

/** Lists the directories below a path, without making them. */
export function namePlace(path: string): PlacePaths {
  return { workspace: join(path, 'workspace'), home: join(path, 'home'), tmp: join(path, 'tmp') };
}

/** Makes the directories of a place and copies the files. */
export async function fillPlace({ workspace, home, tmp }: PlacePaths, files: Workspace): Promise<void> {
  for (const path of [home, tmp]) await mkdir(path, { recursive: true });
  await copyWorkspace(files, workspace);
}

/** The places below one directory. */
export interface Places {
  readonly root: string;
  /** Makes a new place with these files. */
  open(workspace: Workspace): Promise<Place>;
  /** Replaces the paths of all of its places by `{{workspace}}`, `{{home}}` and `{{tmp}}`, also where a text is cut within a path. */
  hide<Value>(value: Value): Value;
}

/** The digits of a place's name: all paths of places have the same length, so that texts are cut at the same position. */
const nameDigits = 5;

/** Makes places below an existing directory, whose owner removes it. */
export function createPlaces(root: string): Places {
  let count = 0;
  const escaped = root.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const path = new RegExp(`${escaped}(?:[\\\\/]\\d*(?:[\\\\/](workspace|home|tmp)\\b)?)?`, 'g');
  const hideText = (text: string) =>
    text.includes(root) ? text.replaceAll(path, (_, name: string | undefined) => `{{${name ?? 'workspace'}}}`) : text;
  return {
    root,
    open: async (workspace) => {
      count += 1;
      const place = join(root, String(count).padStart(nameDigits, '0'));
      const paths = namePlace(place);
      const dispose = async () => await rm(place, { recursive: true, force: true, maxRetries: 3 });
      try {
        await fillPlace(paths, workspace);
      } catch (error) {
        await dispose();
        throw error;
      }
      return { paths, [Symbol.asyncDispose]: dispose };
    },
    hide: (value) => mapTexts(value, hideText),
  };
}
