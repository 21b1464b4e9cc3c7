type Entry = Readonly<Record<string, unknown>>;

/** Steps of an evals file, an assertion that holds after them, one that fails, and its reason. */
export interface Subject {
  steps: readonly Entry[];
  client?: Entry;
  green: Entry;
  red: Entry;
  reason: string | RegExp;
}

const call = (toolCall: string, args: Entry = {}): Entry => ({ toolCall, arguments: args });
const dynamic = 'demo://resource/dynamic';
const gzip = (outputType: string) =>
  call('gzip-file-as-resource', { name: '{{uuid}}.gz', data: 'data:text/plain,hello', outputType });

/** The subjects, by tool. */
export const tools: Readonly<Record<string, readonly Subject[]>> = {
  echo: [
    {
      steps: [call('echo', { message: 'hello' })],
      green: { toolResultEquals: 'Echo: hello' },
      red: { toolResultEquals: 'hello' },
      reason: 'is "Echo: hello", expected "hello"',
    },
  ],
  'get-annotated-message': [
    {
      steps: [call('get-annotated-message', { messageType: 'error', includeImage: true })],
      green: { toolResultContent: { type: 'image', mimeType: 'image/png' } },
      red: { toolResultContent: { type: 'audio' } },
      reason: 'has no block like {"type":"audio"}',
    },
  ],
  'get-env': [
    {
      steps: [call('get-env')],
      green: { toolResultMatches: '"PORT": "\\d+"' },
      red: { toolResultContains: 'GITHUB_TOKEN' },
      reason: 'does not contain "GITHUB_TOKEN"',
    },
  ],
  'get-resource-links': [
    {
      steps: [call('get-resource-links', { count: 3 })],
      green: { toolResultContent: { type: 'resource_link', uri: `${dynamic}/*` }, count: 3 },
      red: { toolResultContent: { type: 'resource_link' }, count: 4 },
      reason: /has 3 blocks like .*expected 4/,
    },
  ],
  'get-resource-reference': [
    {
      steps: [call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 })],
      green: { toolResultContent: { type: 'resource', uri: `${dynamic}/blob/2` } },
      red: { toolResultContent: { type: 'resource', uri: `${dynamic}/text/2` } },
      reason: 'has no block like',
    },
  ],
  'get-roots-list': [
    {
      steps: [call('get-roots-list')],
      client: { roots: [{ uri: 'file:///notes', name: 'Notes' }] },
      green: { toolResultContains: 'Notes' },
      red: { toolResultContains: 'file:///etc' },
      reason: 'does not contain "file:///etc"',
    },
  ],
  'get-structured-content': [
    {
      steps: [call('get-structured-content', { location: 'Chicago' })],
      green: { toolResultEquals: 82, path: '/humidity' },
      red: { toolResultEquals: 83, path: '/humidity' },
      reason: '/humidity in the result of get-structured-content is 82, expected 83',
    },
    {
      // The schema of the tool is of draft-07.
      steps: [call('get-structured-content', { location: 'Chicago' })],
      green: { toolResultMatchesSchema: { properties: { temperature: { type: 'integer' } } } },
      red: { toolResultMatchesSchema: { required: ['wind'] } },
      reason: 'wind',
    },
  ],
  'get-sum': [
    {
      steps: [call('get-sum', { a: 2, b: 3 })],
      green: { toolResultContains: '5' },
      red: { toolResultContains: '6' },
      reason: 'does not contain "6"',
    },
  ],
  'get-tiny-image': [
    {
      steps: [call('get-tiny-image')],
      green: { toolResultContent: { type: 'image', width: 20, height: 20 } },
      red: { toolResultContent: { type: 'image', width: 21 } },
      reason: 'image/png',
    },
  ],
  'gzip-file-as-resource': [
    {
      steps: [gzip('resource')],
      green: { toolResultContent: { type: 'resource', mimeType: 'application/gzip' } },
      red: { toolResultContent: { type: 'resource_link' } },
      reason: 'has no block like {"type":"resource_link"}',
    },
    {
      // The same session can read the link. The server has one such file per name for all sessions.
      steps: [{ ...gzip('resourceLink'), capture: { link: '/content/0/uri' } }, { readResource: '{{link}}' }],
      green: { resourceMimeType: 'application/gzip' },
      red: { resourceMimeType: 'text/plain' },
      reason: 'is application/gzip, expected text/plain',
    },
  ],
  'simulate-research-query': [
    {
      steps: [call('simulate-research-query', { topic: 'tea' })],
      green: { toolResultContains: '# Research Report: tea' },
      red: { toolResultContains: 'coffee' },
      reason: 'does not contain "coffee"',
    },
  ],
  'toggle-simulated-logging': [
    {
      steps: [call('toggle-simulated-logging')],
      green: { logged: 'level', level: 'debug' },
      red: { toolResultContains: 'Stopped' },
      reason: 'does not contain "Stopped"',
    },
  ],
  'toggle-subscriber-updates': [
    {
      steps: [
        { subscribe: `${dynamic}/text/1` },
        call('toggle-subscriber-updates'),
        { waitForUpdate: `${dynamic}/text/1` },
        call('toggle-subscriber-updates'),
      ],
      green: { toolResultContains: 'Stopped' },
      red: { toolResultContains: 'Paused' },
      reason: 'none of 2 results contains "Paused"',
    },
  ],
  'trigger-elicitation-request': [
    {
      steps: [call('trigger-elicitation-request')],
      client: { elicitation: [{ accept: { name: 'Ada', check: true } }] },
      green: { elicitationRequested: 'Please provide inputs', schema: ['name'], mode: 'form' },
      red: { elicitationRequested: 'Please go away' },
      reason: 'with a message that contains "Please go away" not at all',
    },
    {
      steps: [call('trigger-elicitation-request')],
      client: { elicitation: ['decline'] },
      green: { toolResultContains: 'User declined' },
      red: { toolResultContains: 'User provided' },
      reason: 'does not contain "User provided"',
    },
  ],
  'trigger-elicitation-request-async': [
    {
      steps: [call('trigger-elicitation-request-async')],
      client: { elicitation: [{ accept: { name: 'Ada', favoriteColor: 'Green' } }] },
      green: { toolResultContains: '- Name: Ada' },
      red: { toolResultContains: '- Favorite Color: Red' },
      reason: 'does not contain "- Favorite Color: Red"',
    },
  ],
  'trigger-long-running-operation': [
    {
      steps: [call('trigger-long-running-operation', { duration: 0.2, steps: 2 })],
      green: { progressReported: 2 },
      red: { toolResultContains: 'Steps: 3' },
      reason: 'Steps: 2.',
    },
  ],
  'trigger-sampling-request': [
    {
      steps: [call('trigger-sampling-request', { prompt: 'Greet me' })],
      client: { sampling: [{ text: 'Good morning' }] },
      green: { samplingRequested: 'Greet me' },
      red: { toolResultContains: 'Good night' },
      reason: 'does not contain "Good night"',
    },
  ],
  'trigger-sampling-request-async': [
    {
      steps: [call('trigger-sampling-request-async', { prompt: 'Greet me' })],
      client: { sampling: [{ text: 'Good morning' }] },
      green: { toolResultContains: '"text": "Good morning"' },
      red: { toolResultContains: 'Good night' },
      reason: 'does not contain "Good night"',
    },
  ],
  'trigger-url-elicitation': [
    {
      steps: [call('trigger-url-elicitation', { url: 'https://example.com/pay', message: 'Pay here' })],
      client: { elicitation: ['accept'] },
      green: { elicitationRequested: 'Pay here', mode: 'url' },
      red: { elicitationRequested: 'Pay here', mode: 'form' },
      reason: 'elicitationRequested',
    },
    {
      // The call requires the first URL. The client then repeats the call.
      steps: [call('trigger-url-elicitation', { url: 'https://example.com/pay', errorPath: true })],
      client: { elicitation: ['accept', 'accept'] },
      green: { toolResultContains: 'User completed the URL elicitation flow' },
      red: { toolResultContains: 'User declined' },
      reason: 'does not contain "User declined"',
    },
  ],
};

const city = { complete: 'department', prompt: 'completable-prompt', value: 'S' };

/** Features of the server other than tools. */
export const others: Readonly<Record<string, Subject>> = {
  'a static resource': {
    steps: [{ readResource: 'demo://resource/static/document/features.md' }],
    green: { resourceMimeType: 'text/markdown' },
    red: { resourceContains: 'no such feature' },
    reason: 'does not contain "no such feature"',
  },
  'a resource from a template': {
    steps: [{ readResource: `${dynamic}/text/7` }],
    green: { resourceMatches: '^Resource 7:' },
    red: { resourceMatches: '^Resource 8:' },
    reason: 'does not match',
  },
  'a resource that does not exist': {
    steps: [{ readResource: `${dynamic}/text/none` }],
    green: { requestError: { contains: 'Unknown resource' } },
    red: { requestError: { contains: 'Forbidden' } },
    reason: 'Unknown resource',
  },
  'a prompt without arguments': {
    steps: [{ getPrompt: 'simple-prompt' }],
    green: { promptContains: 'This is a simple prompt' },
    red: { promptEquals: 'assistant', path: '/messages/0/role' },
    reason: 'is "user", expected "assistant"',
  },
  'a prompt with arguments': {
    steps: [{ getPrompt: 'args-prompt', arguments: { city: 'Paris' } }],
    green: { promptContains: 'weather in Paris' },
    red: { promptContains: 'weather in Rome' },
    reason: 'does not contain "weather in Rome"',
  },
  'a prompt with a resource': {
    steps: [{ getPrompt: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '3' } }],
    green: { promptEquals: `${dynamic}/text/3`, path: '/messages/1/content/resource/uri' },
    red: { promptEquals: `${dynamic}/text/4`, path: '/messages/1/content/resource/uri' },
    reason: `${dynamic}/text/3`,
  },
  'a completion': {
    steps: [city],
    green: { completionEquals: ['Sales', 'Support'] },
    red: { completionEquals: ['Sales'] },
    reason: 'completing department is not as expected',
  },
  'a completion that depends on another argument': {
    steps: [{ complete: 'name', prompt: 'completable-prompt', value: '', arguments: { department: 'Sales' } }],
    green: { completionContains: 'Eve' },
    red: { completionContains: 'Alice' },
    reason: 'does not contain "Alice"',
  },
  'a completion of a template': {
    steps: [{ complete: 'resourceId', resourceTemplate: `${dynamic}/text/{resourceId}`, value: '12' }],
    green: { completionEquals: ['12'] },
    red: { completionEquals: [] },
    reason: 'completing resourceId',
  },
};
