import { ServerStartError } from '../base/errors.ts';
import { abilities, type Ability } from '../model/client-abilities.ts';
import { readInventory } from './inventory.ts';
import { firstVariant, type WorldSource } from './world/world.ts';

/** The tools that a server lists only for a client that offers something, with the abilities for which it does. */
export type HiddenTools = ReadonlyMap<string, readonly Ability[]>;

/**
 * Finds the tools that the server does not list for a client that offers nothing, and the ability that each of them needs: all abilities if
 * no single one is enough.
 */
export async function findHidden(tools: readonly string[], source: WorldSource): Promise<HiddenTools> {
  // A server at a URL is offered nothing.
  const hidden = source.isShared ? [] : await listMissing(tools, source, []);
  const needed = new Map<string, readonly Ability[]>(hidden.map((name) => [name, abilities]));
  if (hidden.length === 0) return needed;
  for (const ability of abilities) {
    const missing = new Set(await listMissing(hidden, source, [ability]));
    for (const name of hidden) {
      if (!missing.has(name) && needed.get(name) === abilities) needed.set(name, [ability]);
    }
  }
  return needed;
}

/** Lists the tools that the server does not list for a client that offers these abilities; all if it does not start for it. */
async function listMissing(
  tools: readonly string[],
  source: WorldSource,
  offers: readonly Ability[],
): Promise<readonly string[]> {
  try {
    await using world = await source.open({ ...firstVariant, offers });
    const listed = new Set((await readInventory(world)).tools.map(({ name }) => name));
    return tools.filter((name) => !listed.has(name));
  } catch (error) {
    if (error instanceof ServerStartError) return tools;
    throw error;
  }
}
