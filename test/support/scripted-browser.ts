import { chmod, writeFile } from 'node:fs/promises';

/**
 * Writes a program that answers the first question of its start like a Chromium, and ends at any other question. It appends a line to a file
 * when it starts.
 */
export async function writeScriptedBrowser(file: string, { log, line }: { log: string; line: string }): Promise<void> {
  await writeFile(
    file,
    `#!${process.execPath}
const { appendFileSync, createReadStream, writeSync } = require('node:fs');
appendFileSync(${JSON.stringify(log)}, ${JSON.stringify(`${line}\n`)});
let rest = '';
createReadStream('', { fd: 3, encoding: 'utf8' }).on('data', (chunk) => {
  const messages = (rest + chunk).split('\\0');
  rest = messages.pop();
  for (const { id, method } of messages.map((text) => JSON.parse(text))) {
    if (method !== 'Browser.getVersion') process.exit(1);
    writeSync(4, JSON.stringify({ id, result: { product: 'Scripted/1' } }) + '\\0');
  }
});
`,
  );
  await chmod(file, 0o755);
}
