import { buildLanguageServer, hasToolchain, type LanguageName, languageNames } from './build.ts';
import { languageGates, runLanguageGate } from './gates.ts';

/**
 * Builds the servers in these languages and runs their gates, one after the other. A language whose toolchain is absent is skipped
 * with a note; a server that cannot be built counts as a difference.
 */
export async function runLanguages(names: readonly string[]): Promise<{ met: number; differing: number }> {
  const counts = { met: 0, differing: 0 };
  for (const name of names) {
    if (!isLanguage(name)) {
      console.log(`"${name}" is no language of a server here; choose from ${languageNames.join(', ')}.`);
      counts.differing += 1;
    } else if (await hasToolchain(name)) {
      const { met, differing } = await runLanguage(name);
      counts.met += met;
      counts.differing += differing;
    } else {
      console.log(`${name} is skipped: its toolchain is not installed.`);
    }
  }
  return counts;
}

async function runLanguage(name: LanguageName): Promise<{ met: number; differing: number }> {
  const startMs = performance.now();
  const elapsed = () => `${Math.round((performance.now() - startMs) / 1000)} s`;
  const server = await buildLanguageServer(name).catch((error: unknown) => String(error));
  if (typeof server === 'string') {
    console.log(`✗ ${name}: the server cannot be built: ${server}`);
    return { met: 0, differing: 1 };
  }
  console.log(`${name}: the server on ${server.framework} is built (${elapsed()}).`);
  let differing = 0;
  for (const gate of languageGates) {
    const differences = await runLanguageGate(server, gate).catch((error: unknown) => [`threw ${String(error)}`]);
    if (differences.length > 0) differing += 1;
    console.log(`${differences.length === 0 ? '✓' : '✗'} ${name}, ${gate.title}: ${gate.verdict}`);
    for (const difference of differences) console.log(`    ${difference.slice(0, 500)}`);
  }
  console.log(`${name}: ${languageGates.length} gates (${elapsed()}).`);
  return { met: languageGates.length - differing, differing };
}

function isLanguage(name: string): name is LanguageName {
  return languageNames.some((language) => language === name);
}
