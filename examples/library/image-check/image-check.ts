import { readFileSync } from 'node:fs';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { defineCheck, fail, pass } from 'mcp-eval-ci/checks';

const properties = { file: { type: 'string' }, atMost: { type: 'integer', minimum: 0 } };

export const looksLike = defineCheck({
  name: 'looksLike',
  schema: { type: 'object', properties, required: ['file'], additionalProperties: false },
  judge: ({ file, atMost = 0 }: { file: string; atMost?: number }, { toolResults }) => {
    const image = toolResults.at(-1)?.content?.find((block) => block['type'] === 'image');
    if (image === undefined) return fail('the result has no image.');
    const actual = PNG.sync.read(Buffer.from(String(image['data']), 'base64'));
    const { width, height, data } = PNG.sync.read(readFileSync(new URL(file, import.meta.url)));
    const size = `${actual.width} × ${actual.height}`;
    if (size !== `${width} × ${height}`) return fail(`the image is ${size}, expected ${width} × ${height}.`);
    const differing = pixelmatch(data, actual.data, null, width, height);
    const found = `${differing} of ${width * height} pixels differ from ${file}`;
    return differing <= atMost ? pass(`${found}.`) : fail(`${found}, expected at most ${atMost}.`);
  },
});
