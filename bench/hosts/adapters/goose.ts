import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

export const adapter: HostAdapter = {
  id: 'goose',
  package: `@aaif/goose-binary-${process.platform}-${process.arch}`,
  model: 'probe-model',
  start: ({ installed, port, model, server, prompt }) => ({
    argv: [
      join(installed, `node_modules/@aaif/goose-binary-${process.platform}-${process.arch}/bin/goose`),
      ...['run', '--no-session', '--quiet', '--output-format', 'stream-json', '-t', prompt],
    ],
    env: {
      GOOSE_PROVIDER: 'openai',
      GOOSE_MODEL: model,
      GOOSE_MODE: 'auto',
      GOOSE_DISABLE_KEYRING: '1',
      OPENAI_API_KEY: key,
      OPENAI_HOST: `http://127.0.0.1:${port}`,
      OPENAI_BASE_PATH: 'v1/chat/completions',
    },
    files: {
      // JSON is YAML, too.
      '.config/goose/config.yaml': JSON.stringify({
        extensions: {
          [serverName]: {
            type: 'stdio',
            name: serverName,
            cmd: server.command,
            args: server.args,
            enabled: true,
            timeout: 300,
            envs: {},
          },
        },
      }),
    },
  }),
};
