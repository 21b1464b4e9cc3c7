import { choice, duration, option, optionalSecret, optionalText, positiveNumber, secrets } from './values.ts';

const group = 'The eval service';

export const evalServiceOptions = {
  service: option(choice('service', ['embedded', 'svc', 'mcpjam']), {
    group,
    hint: '<embedded|svc|mcpjam>',
    brief: 'Who executes the evals. [embedded]',
    description:
      'Who executes the evals: `embedded`, or the hosted `svc` or `mcpjam`. Default: `svc` if `base-url` and `api-key` are set and `upload` is off, else `embedded`.',
    default: '',
  }),
  upload: option(choice('upload', ['off', 'svc', 'mcpjam']), {
    group,
    hint: '<off|svc|mcpjam>',
    brief: 'Where results of the embedded service go, too.',
    description:
      'The hosted service that also gets the results of embedded runs: `svc`, `mcpjam` or `off`. It needs `api-key`.',
    default: 'off',
  }),
  baseUrl: option(optionalText, {
    group,
    hint: '<url>',
    brief: 'Where the hosted service is, such as https://host/api/v1.',
    description:
      'The base URL of the API of the hosted service, such as `https://host/api/v1`. Default: that of `mcpjam`, if `service` or `upload` names it.',
    default: '',
  }),
  apiKey: option(optionalSecret, {
    group,
    hint: '<key>',
    isSecret: true,
    brief: 'The key of the hosted service; better given in the variable MCP_EVAL_API_KEY.',
    description:
      'The API key of the hosted service, from a secret. Workflows of forks and of Dependabot get none; use `service: embedded` there.',
    default: '',
  }),
  project: option(optionalText, {
    group,
    hint: '<id or name>',
    brief: 'The project of the hosted service.',
    description: 'The project of the hosted service, by id or exact name. Default: the only one that the key can see.',
    default: '',
  }),
  environment: option(optionalText, {
    group,
    hint: '<id>',
    brief: 'Run `suite` in this environment of it.',
    description: 'The id of an environment of the hosted service to run `suite` in. It brings its own servers.',
    default: '',
  }),
  modelApiKeys: option(secrets('provider=key'), {
    group,
    hint: '<provider=key>',
    isSecret: true,
    brief: 'A key for the models of a provider; may be given again.',
    isList: true,
    description:
      'Keys for models, one `provider=key` per line. Default: variables such as `ANTHROPIC_API_KEY`; a hosted service uses its own keys.',
    default: '',
  }),
  recordings: option(choice('recordings', ['auto', 'live', 'record', 'replay']), {
    group,
    hint: '<mode>',
    brief: 'Where model answers come from: auto, live, record or replay.',
    description:
      'Where answers of models come from: `auto` replays recordings that fit and calls the model for the rest, `live` and `record` always call it, `replay` never does.',
    default: 'auto',
  }),
  modelTimeout: option(duration, {
    group,
    hint: '<duration>',
    brief: 'How long one call of a model may take, retries included.',
    description:
      'How long one call of a model may take with all its attempts, such as `2m`. Models that reason for long need more than the default.',
    default: '45s',
  }),
  modelCallsPerSecond: option(positiveNumber, {
    group,
    hint: '<n>',
    brief: 'How many calls a second may begin with one key of a provider.',
    description:
      'How many calls of models may begin in a second with one key, such as `20` or `0.5`; twice as many may begin at once. A refusal halves the pace.',
    default: '5',
  }),
  queueTimeout: option(duration, {
    group,
    hint: '<duration>',
    brief: 'How long to wait for other runs.',
    description:
      'How long to wait while the service executes as many runs as it may, such as `10m`. It counts towards `timeout`.',
    default: '10m',
  }),
  tunnel: option(choice('tunnel', ['auto', 'always', 'never']), {
    group,
    hint: '<auto|always|never>',
    brief: 'Whether to tunnel to the server.',
    description:
      'Whether the service reaches the server through a tunnel: `auto` for hosted services, `always`, or `never`.',
    default: 'auto',
  }),
  serverName: option(optionalText, {
    group,
    hint: '<name>',
    brief: 'What the server is called in the project.',
    description:
      'The name of the server in the hosted project, up to 128 characters. Default: a name for each job, removed at its end.',
    default: '',
  }),
};
