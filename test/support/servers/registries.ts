import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Workspace } from '../workspace.ts';

interface Registry extends AsyncDisposable {
  url: string;
}

const versions = ['1.0.0', '1.1.0', '2.0.0-beta.1', '2.0.0'];

async function listen(answer: (url: string) => RequestListener): Promise<Registry> {
  const server = createServer((request, response) => answer(url)(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves an npm registry on loopback that has the package `notes` in several versions, with this code. */
export async function openRegistry({ path }: Workspace, code = ''): Promise<Registry> {
  const packed = versions.map((version) => {
    const manifest = {
      name: 'notes',
      version,
      type: 'module',
      bin: { 'notes-server': 'build/index.js' },
      scripts: { postinstall: 'node -e "process.exit(9)"' },
    };
    execFileSync(
      'sh',
      [
        '-c',
        `mkdir -p ${version}/package/build && cat > ${version}/package/package.json && printf %s "$CODE" > ${version}/package/build/index.js && tar -czf ${version}.tgz -C ${version} package`,
      ],
      {
        cwd: path,
        input: JSON.stringify(manifest),
        env: { ...process.env, CODE: `#!/usr/bin/env node\n${code}` },
      },
    );
    const file = readFileSync(join(path, `${version}.tgz`));
    return { manifest, file };
  });
  return await listen((url) => (request, response) => {
    const wanted = /\/notes-(.+)\.tgz$/.exec(request.url ?? '')?.[1];
    const found = packed.find(({ manifest }) => manifest.version === wanted);
    if (found !== undefined) response.end(found.file);
    else if (request.url === '/notes') {
      const list = packed.map(({ manifest, file }) => [
        manifest.version,
        {
          ...manifest,
          dist: {
            tarball: `${url}/notes-${manifest.version}.tgz`,
            integrity: `sha512-${createHash('sha512').update(file).digest('base64')}`,
          },
        },
      ]);
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name: 'notes', 'dist-tags': { latest: '2.0.0' }, versions: Object.fromEntries(list) }),
      );
    } else response.writeHead(404).end('{}');
  });
}

/** Writes a wheel with the standard library of Python: a wheel is a zip file with metadata. */
const writeWheel = `
import sys, zipfile
version, path = sys.argv[1:]
info = f"notes-{version}.dist-info"
files = {
    "notes/__init__.py": "",
    "notes/__main__.py": "print('notes')\\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: notes\\nVersion: {version}\\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[f"{info}/RECORD"] = "".join(f"{name},,\\n" for name in files) + f"{info}/RECORD,,\\n"
with zipfile.ZipFile(path, "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
`;

/** Serves a simple index of Python on loopback (PEP 503) that has the package `notes` in several versions, as wheels. */
export async function openIndex({ path }: Workspace): Promise<Registry> {
  const wheels = new Map(
    ['1.0.0', '1.1.0', '2.0.0'].map((version) => {
      const name = `notes-${version}-py3-none-any.whl`;
      execFileSync('python3', ['-c', writeWheel, version, join(path, name)]);
      return [name, readFileSync(join(path, name))];
    }),
  );
  return await listen((url) => (request, response) => {
    const wheel = wheels.get(request.url?.split('/').at(-1) ?? '');
    if (wheel !== undefined) response.end(wheel);
    else if (request.url === '/simple/notes/') {
      response.setHeader('content-type', 'text/html');
      response.end([...wheels.keys()].map((name) => `<a href="${url}/files/${name}">${name}</a>`).join('\n'));
    } else response.writeHead(404).end();
  });
}
