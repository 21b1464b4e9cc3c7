import { describe, expect, it } from 'vitest';
import { findLanguageServer, languageNames, type LanguageServer } from './build.ts';
import { languageGates, runLanguageGate } from './gates.ts';

const servers = languageNames.map(findLanguageServer);
const note = ({ isBuilt, name }: LanguageServer) =>
  isBuilt ? '' : ` (skipped: \`npm run test:servers -- --language ${name}\` builds it)`;

// A build takes minutes, so it is no part of these tests.
for (const server of servers) {
  describe.skipIf(!server.isBuilt)(`a gate on a server on ${server.framework}${note(server)}`, () => {
    it.each(languageGates)('$title: $verdict', async (gate) => {
      expect(await runLanguageGate(server, gate)).toEqual([]);
    });
  });
}
