import { systemClock } from '../../../src/base/time.ts';
import { createTerminalLogger } from '../../../src/cli/command-logger.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { openEmbeddedService } from '../../../packages/eval-service/src/open-service.ts';
import { createFastClock } from '../clocks/fast-clock.ts';

// The service of `serve --data <directory>`, with fast days: `fast-serve <directory> <api key> <epoch ms> <factor>`.

const [dataDir = '', apiKey = '', originMs = '', factor = ''] = process.argv.slice(2);
const service = await openEmbeddedService({
  clock: createFastClock(systemClock, { originMs: Number(originMs), factor: Number(factor) }),
  logger: createTerminalLogger({
    // The test reads the started runs from the store.
    write: () => {},
    redactor: createRedactor(),
    color: false,
    isQuiet: true,
    isVerbose: false,
  }),
  dataDir,
  apiKey: new Secret(apiKey),
});
process.stdout.write(`${JSON.stringify({ baseUrl: service.baseUrl, project: service.projectId })}\n`);
