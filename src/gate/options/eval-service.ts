import { option } from './option.ts';
import { choice, duration, optionalSecret, optionalText, secrets } from './values.ts';

const group = 'The eval service';

export const evalServiceOptions = {
  service: option(choice('service', ['embedded', 'svc', 'mcpjam']), {
    group,
    hint: '<embedded|svc|mcpjam>',
    brief: 'Who executes the evals. [embedded]',
    description:
      'Who executes the evals: `embedded` (this process), or the hosted `svc` or `mcpjam`, which need `api-key`. Default: `svc` if `base-url` and `api-key` are set and `upload` is off, else `embedded`.',
    default: '',
  }),
  upload: option(choice('upload', ['off', 'svc', 'mcpjam']), {
    group,
    hint: '<off|svc|mcpjam>',
    brief: 'Where results of the embedded service go, too.',
    description:
      'The hosted service that gets the results of the embedded one when the verdict is there, so that people find its runs in their project. It needs `api-key`, and `svc` needs `base-url` too. What goes wrong is warned about and changes no verdict. `off` uploads nothing.',
    default: 'off',
  }),
  baseUrl: option(optionalText, {
    group,
    hint: '<url>',
    brief: 'Where the hosted service is, such as https://host/api/v1.',
    description:
      "The base URL of the hosted service's API, such as `https://host/api/v1`. It must be https, unless it leads to this machine. Default: that of `mcpjam`, where `service` or `upload` says so.",
    default: '',
  }),
  apiKey: option(optionalSecret, {
    group,
    hint: '<key>',
    isSecret: true,
    brief: 'The key of the hosted service; better given in the variable MCP_EVAL_API_KEY.',
    description:
      'The API key of the hosted service, from a secret of the repository. Workflows of forks and of Dependabot get no secrets: there, use `service: embedded` and `upload: off`. The command reads it from the variable `MCP_EVAL_API_KEY` too.',
    default: '',
  }),
  project: option(optionalText, {
    group,
    hint: '<id or name>',
    brief: 'The project of the hosted service.',
    description:
      'The project of the hosted service, by its id or exact name. Default: the only one that the key can see.',
    default: '',
  }),
  environment: option(optionalText, {
    group,
    hint: '<id>',
    brief: 'Run `suite` in this environment of it.',
    description:
      'The id of an environment of the hosted service to run `suite` in. An environment brings its own servers, so that this excludes `server-command` and `server-url`. Default: none.',
    default: '',
  }),
  modelApiKeys: option(secrets('provider=key'), {
    group,
    hint: '<provider=key>',
    isSecret: true,
    brief: 'A key for the models of a provider; may be given again.',
    isList: true,
    description:
      'Keys with which the hosted service calls models, one `provider=key` per line, such as `anthropic=` followed by a secret of the repository. They are sent with the run and never stored or shown. Default: none; the service then uses its own.',
    default: '',
  }),
  queueTimeout: option(duration, {
    group,
    hint: '<duration>',
    brief: 'How long to wait for other runs.',
    description:
      'How long to wait for a free place while the hosted service executes as many runs as it may at once, as a number and a unit (`ms`, `s`, `m`, `h`). It counts towards `timeout`.',
    default: '10m',
  }),
  tunnel: option(choice('tunnel', ['auto', 'always', 'never']), {
    group,
    hint: '<auto|always|never>',
    brief: 'Whether to tunnel to the server.',
    description:
      'Whether the service reaches the server through a tunnel. `auto` opens one for a hosted service. `always` does for the embedded one too, which exercises the whole path without an account. `never` gives the service the URL of the server itself, which it must be able to reach.',
    default: 'auto',
  }),
  serverName: option(optionalText, {
    group,
    hint: '<name>',
    brief: 'What the server is called in the project.',
    description:
      'What the server of the job is called in the hosted project, up to 128 characters. Two jobs that use one name at the same time cut each other off. Default: a name of its own for every job, which is taken out of the project at the end.',
    default: '',
  }),
};
