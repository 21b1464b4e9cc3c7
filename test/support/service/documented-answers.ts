/**
 * The answers that the API documents, in its documentation's own notation: `?` marks an optional field, and a name refers to a type below. They
 * are written by hand and independent of the client's schemas, which are tested against them.
 */
const types = `
DoctorCheck {status: string, detail: string}
Doctor {generatedAt: string, status: string, probe?: object|null, connection: DoctorCheck, initInfo?: object|null, capabilities?: object|null, tools?: object[], resources?: object[], resourceTemplates?: object[], prompts?: object[], checks: {probe?: DoctorCheck, connection?: DoctorCheck, initialization?: DoctorCheck, capabilities?: DoctorCheck, tools?: DoctorCheck, resources?: DoctorCheck, resourceTemplates?: DoctorCheck, prompts?: DoctorCheck}, error?: object|null}
Deleted {id: string, deleted: true}
Project {id: string, name: string, description?: string|null, icon?: string|null, organizationId?: string|null, visibility?: string|null, role?: string, createdAt?: number|null, updatedAt?: number|null}
ProjectServer {id: string, projectId?: string|null, name: string, enabled: boolean, transportType: string, url?: string|null, useOAuth: boolean, hasClientSecret: boolean, oauthScopes?: string[], createdAt?: number|null, updatedAt?: number|null}
SandboxImageBuild {id: string, status: string, provider: string, baseImageDigests?: string[], logPreview?: string, error?: string, createdAt: number, startedAt?: number, finishedAt?: number}
SandboxImage {id: string, projectId: string, name: string, contentHash: string, sharing: string, isOwner: boolean, currentBuild: SandboxImageBuild|null, createdAt: number, updatedAt: number, blueprint: string}
BlueprintError {code?: string, message: string, line?: number, path?: string}
Host {id: string, name: string, config: object}
HostSummary {id: string, name: string, hostConfigId: string, modelId: string, serverCount: number, createdAt: number, updatedAt: number}
CatalogHost {id: string, label: string, provenance: string, rendersMcpApps: boolean, hostStyle: string, modelId: string, systemPrompt: string, temperature: number, requireToolApproval: boolean, respectToolVisibility: boolean, serverIds: string[], optionalServerIds: string[], builtInToolIds: string[], connectionDefaults: {headers: object, requestTimeout: number}, clientCapabilities: object, hostContext: object}
EvalRunEnvironment {environmentId?: string, hostId?: string}
NamedServer {id: string, name?: string}
CaseUpsert {committed?: {id?: string, name?: string}[], failed?: {id?: string, name?: string, error?: string}[]}
Insights {schemaVersion: integer, scope: {kind: string, id: string}, status: string, reasonCode: string|null, retryable: boolean, error: object|null, generatedAt: integer|null, updatedAt: integer|null, summary: string|null, coverage: object, findings: object[], runHealth?: object, truncation: object}
EvalRun {id: string, suiteId: string, runNumber?: integer|null, status: string, result?: string|null, summary?: {total?: integer, passed?: integer, failed?: integer, passRate?: number}|null, source: string, notes?: string|null, createdAt: number, completedAt?: number|null, scoreIntegrity?: string|null, environment?: EvalRunEnvironment|null, executionEngine?: string, insights?: Insights, judges?: {goalCompletion?: object, groundedness?: object}}
NumericDiff {base: number|null, compare: number|null, delta: number|null, percentDelta: number|null}
RunSide {id: string, runNumber: integer, result: string, createdAt: integer, completedAt: integer|null, summary: {total: integer, passed: integer, failed: integer, passRate: number}|null}
ScoreContractSide {evaluationConfigHash: string|null, scoreIntegrity: string|null, scoredIterations: integer, quarantinedIterations: integer}
ScoreContractScorer {scorerId: string, gating: boolean, deterministic: boolean, definitionChanged: boolean, passRate: NumericDiff, meanValue: NumericDiff, errorCount: {base: integer, compare: integer}}
ScoreSide {status: string, value: number|null, passed: boolean|null}
ScoreDelta {scorerId: string, gating: boolean, deterministic: boolean, definitionChanged: boolean, base: ScoreSide|null, compare: ScoreSide|null, value: NumericDiff}
CaseSide {outcome: string, iterationIds: string[], representativeIterationId: string|null, error: string|null}
EvalRunCompareCase {caseKey: string, title: string, status: string, configChanged: boolean, evaluationConfigChanged: boolean, scoreDeltas: ScoreDelta[], base: CaseSide, compare: CaseSide}
ToolCall {toolName?: string, name?: string, arguments?: object, args?: object}
EvalIteration {id: string, testCaseId?: string|null, title?: string, iterationNumber?: integer, status: string, result?: string|null, model?: string, provider?: string, startedAt?: number|null, durationMs?: number|null, tokensUsed?: number, usage?: object|null, actualToolCalls?: ToolCall[], expectedToolCalls?: ToolCall[], error?: string|null, scores?: object[], evaluationConfig?: object, scoreIntegrity?: string|null}
EvalStep {stepId: string, stepIndex: integer, kind: string, status: string, reason?: string|null, evidence?: {toolCalls?: {name: string, args?: object, ok?: boolean, error?: string}[]}|null}
EvalSuite {id: string, name?: string|null, projectId?: string|null, latestRun?: {id?: string|null, status?: string|null, passRate?: number|null, passed?: integer|null, failed?: integer|null, createdAt?: number|null}|null, totals?: {passed?: integer, failed?: integer, runs?: integer}, passRateTrend?: number[], createdAt?: number|null, updatedAt?: number|null}
EvalSuiteDetail {id: string, name?: string|null, description?: string|null, projectId?: string|null, environment: {servers?: string[], computerEnvironment?: object|null}, executionConfig?: {model?: string, systemPrompt?: string, temperature?: number}|null, hosts: object[], environmentIds?: string[], settings: {minimumAccuracy?: number|null, minimumIterations?: number|null, matchOptions?: object|null, checks?: object[], judge?: object}, schedule: {enabled: boolean, intervalMinutes?: integer|null, environmentId?: string|null}, createdAt?: number|null, updatedAt?: number|null}
EvalCase {id: string, declaredId?: string, title: string, steps: {id: string, kind: string}[], expectedOutput?: string, iterations: integer, isNegative: boolean, scenario?: string, models: {model: string, provider?: string}[], matchOptions?: object, checks?: {mode?: string, list?: object[]}, createdAt?: number|null, updatedAt?: number|null}
ChatSession {id: string, title?: string, status?: string, projectId?: string, visibility?: string, lastActivityAt?: number, createdAt?: number, isPinned?: boolean, isUnread?: boolean}
Chatbox {id: string, projectId?: string, name: string, description?: string, mode?: string, hostStyle?: string, hostId?: string, hostName?: string, serverCount: integer, serverNames: string[], link?: {path: string, url: string}|null, createdAt?: number, updatedAt?: number}
ChatboxDetail {id: string, projectId?: string, name: string, description?: string, mode?: string, hostStyle?: string, hostId?: string, hostName?: string, serverCount: integer, serverNames: string[], link?: {path: string, url: string}|null, createdAt?: number, updatedAt?: number, modelId?: string, systemPrompt?: string, temperature?: number, requireToolApproval: boolean, servers: {id: string, name: string, url?: string, useOAuth: boolean}[]}
Environment {id: string, projectId: string, name: string, description?: string, hostId: string, serverAttachmentId?: string, modelId?: string, skillSelection?: {mode: string, skillIds: string[]}, pluginVersionIds?: string[], sandboxImageId?: string, revision: integer, archived: boolean, archivedAt?: number, createdAt: number, updatedAt: number}
ResolvedServer {serverId: string, name: string, pluginVersionId?: string}
ResolvedPluginVersion {pluginVersionId: string, name: string}
Plugin {id: string, projectId: string, name: string, description?: string, enabled: boolean, versions?: {id: string, declaredVersion?: string, status: string}[], createdAt: number, updatedAt: number}
PluginServer {componentId: string, componentKey: string, declaredName: string, placement: string, authenticationPolicy: string, materializedServerId: string}
PluginSkill {componentId: string, componentKey: string, declaredName: string, modelRef: string, materializedSkillId: string}
IngestedRun {ok?: true, suiteId: string, runId: string, projectId?: string, reused?: boolean, status?: string, result?: string, summary?: {total?: integer, passed?: integer, failed?: integer}}
GroupTarget {target: {environmentId?: string, namedHostId?: string, name?: string}, status: string, runId?: string, runStatus?: string, deduped?: boolean, error?: {code: string, message: string, details?: object}}
Receipt {runId: string, projectId: string, status: string}
`;

const answers = `
getMe {id: string, email: string, name: string, imageUrl?: string|null, profilePictureUrl?: string|null, plan?: string|null, createdAt?: number|null, updatedAt?: number|null}
listProjects {items: Project[]}
createProject Project
updateProject Project
deleteProject Deleted
listProjectServers {items: ProjectServer[]}
createProjectServer ProjectServer
getProjectServer ProjectServer
updateProjectServer ProjectServer
deleteProjectServer Deleted
validateServer {success: true, status: 'connected', initInfo?: object|null}
runDoctor Doctor
checkOAuth {useOAuth: boolean, serverUrl: string|null}
importOAuthTokens {imported: true, expiresAt?: number|null}
listTools {items: object[], nextCursor?: string}
listPrompts {items: object[], nextCursor?: string}
listResources {items: object[], nextCursor?: string}
readResource {contents: object[]}
callTool {content: object[], structuredContent?: object, isError?: boolean}
getPrompt {description?: string, messages: object[]}
exportServer {serverId: string, exportedAt: string, tools: object[], resources: object[], prompts: object[]}
listEvalSuites {items: EvalSuite[]}
createEvalSuite {suiteId: string, name: string, servers?: NamedServer[], caseUpsert: CaseUpsert}
getEvalSuite EvalSuiteDetail
updateEvalSuite EvalSuiteDetail
deleteEvalSuite Deleted
updateEvalSuiteSchedule EvalSuiteDetail
attachEvalSuiteEnvironment {suiteId: string, attached: boolean, environmentIds: string[]}
listEvalCases {items: EvalCase[], nextCursor?: string|null}
createEvalCase EvalCase
createEvalCases {created: {index: integer, id: string, declaredId?: string, title: string, replayed: boolean}[], failed: {index: integer, title?: string, declaredId?: string, code: string, message: string}[], duplicatePolicy: {requestedPolicy?: string, effectivePolicy: string, coerced: boolean}, warnings?: object[]}
generateEvalCases {generationModel: string, created: EvalCase[], counts: {normal?: integer, negative?: integer}, skipped?: object[]}
getEvalCase EvalCase
updateEvalCase EvalCase
deleteEvalCase Deleted
createEvalRun {runId: string, suiteId: string, status: string, deduped?: boolean, runGroupId?: string, servers?: NamedServer[], caseUpsert: CaseUpsert, environment?: EvalRunEnvironment|null}
createEvalRunGroup {runGroupId: string, suiteId: string, outcome: string, startedCount: integer, failedCount: integer, targets: GroupTarget[], runId?: string, status?: string}
getEvalRun EvalRun
cancelEvalRun EvalRun
listEvalSuiteRuns {items: EvalRun[]}
listEvalRunIterations {items: EvalIteration[], nextCursor?: string}
getEvalIterationTrace {messages?: object[], spans?: object[], prompts?: object[]}
getEvalRunSteps {items: EvalStep[], nextCursor?: string}
compareEvalRun {suite: {id: string, name: string}, baseline: {policy: string, baseRunId: string}, baseRun: RunSide, compareRun: RunSide, passSummary: {passRatePercent: NumericDiff, total: NumericDiff, passed: NumericDiff, failed: NumericDiff}, metrics: {wallDurationMs: NumericDiff, totalTokens: NumericDiff, estimatedCostUsd: NumericDiff}, scoreContract: {base: ScoreContractSide, compare: ScoreContractSide, evaluationConfigChanged: boolean, scorers: ScoreContractScorer[]}, cases: EvalRunCompareCase[]}
judgeEvalRun Receipt
requestEvalRunInsights Receipt
reportEvalRun IngestedRun
startEvalIngestRun IngestedRun
finalizeEvalIngestRun IngestedRun
ingestEvalRunIterations {ok?: true, inserted?: integer, skipped?: integer, total?: integer}
createEvalIngestUploadUrl {ok?: true, uploadUrl: string}
createTunnel {serverId: string, name: string, existed: boolean, previousUrl?: string, previousTransportType?: string, slug: string, url: url, connectToken: string, connectTokenExpiresAt?: number, relayWsUrl: string, secretVersion?: number}
closeTunnel {serverId: string, status: 'closed'}
runAgentTurn {reply: string, toolCalls: object[], createdResources: object[], proposedActions: object[], usage: {inputTokens: integer, outputTokens: integer}}
executeProposedAction {actionId: string, operation: string, status: string, kind: string, result: object}
listChatSessions {items: ChatSession[], nextCursor?: string}
listChatboxes {items: Chatbox[], nextCursor?: string}
getChatbox ChatboxDetail
exportTracesOtlp {resourceSpans: object[]}
getHostCompatCatalog {schemaVersion: integer, version: integer, contentHash: string, publishedAt: integer, source: string, catalog: {hostsById: {claude: CatalogHost}}}
listHarnessBuiltinTools {items: {key: string}[]}
listModels {items: {id: string, name?: string, provider?: string}[]}
listProjectPlugins {items: Plugin[]}
getPluginVersion {id: string, pluginId: string, declaredVersion?: string, bundleHash: string, manifestHash?: string, status: string, componentCounts: {skills: integer, servers: integer, apps: integer, assets: integer, unsupported: integer}, servers: PluginServer[], skills: PluginSkill[], createdAt: number, readyAt?: number}
listOrganizations {items: {id: string, name: string, plan?: string, myRole?: string, isCreator: boolean, logoUrl?: string, createdAt?: number}[]}
getProjectCapabilities {projectId: string, organizationId: string|null, projectRole: string, role?: string, surface?: string, plan: object|null, features: {sandboxes: boolean}, can: object}
listEnvironments {items: Environment[]}
createEnvironment Environment
getEnvironment Environment
updateEnvironment Environment
archiveEnvironment Environment
restoreEnvironment Environment
resolveEnvironment {environment: {id: string, name: string, revision: integer}, hostId: string, hostName: string, hostConfigId: string, modelId?: string, effectiveModelId?: string, modelSource?: string, serverAttachmentId?: string, sandboxImageId?: string, selectedServerIds: string[], effectiveServerIds: string[], pluginVersions: ResolvedPluginVersion[], servers: ResolvedServer[]}
listHosts {items: HostSummary[]}
createHost Host
getHost Host
updateHost Host
deleteHost Deleted
setHostServers Host
duplicateHost Host
listSandboxImages {items: SandboxImage[], nextCursor?: string}
createSandboxImage SandboxImage
getSandboxImage SandboxImage
updateSandboxImage SandboxImage
deleteSandboxImage Deleted
promoteSandboxImage SandboxImage
listSandboxImageBuilds {items: SandboxImageBuild[], nextCursor?: string}
buildSandboxImage {id: string, buildId: string, reused: boolean}
useSandboxImage {imageId: string, computerId: string, status: string}
resetComputer {projectId: string, reset: boolean}
validateSandboxImageBlueprint {ok: boolean, baseImageDigest?: string, errors?: BlueprintError[]}
`;

/** A documented type: alternatives, each a primitive by its name, a fixed value, a list, or an object with its fields. */
export type DocumentedType =
  | { kind: 'primitive'; name: string }
  | { kind: 'value'; value: unknown }
  | { kind: 'list'; of: DocumentedType }
  | { kind: 'object'; fields: DocumentedField[] }
  | { kind: 'any of'; types: DocumentedType[] };

export interface DocumentedField {
  name: string;
  isOptional: boolean;
  type: DocumentedType;
}

const primitives = new Set(['string', 'url', 'number', 'integer', 'boolean', 'object', 'null']);
const definitions = new Map(readLines(types));

/** The answer of each operation, by its name. */
export const documentedAnswers: ReadonlyMap<string, DocumentedType> = new Map(
  readLines(answers).map(([name, text]) => [name, parseType(text)]),
);

function readLines(text: string): Array<[string, string]> {
  return text
    .trim()
    .split('\n')
    .map((line): [string, string] => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

function parseType(text: string): DocumentedType {
  const tokens = text.match(/'[^']*'|\w+|\[\]|[{}?:,|]/g) ?? [];
  let at = 0;
  const take = (expected?: string): string => {
    const token = tokens[at] ?? '';
    if (expected !== undefined && token !== expected) throw new Error(`Expected ${expected} at ${at} of ${text}`);
    at += 1;
    return token;
  };
  const parseObject = (): DocumentedType => {
    const fields: DocumentedField[] = [];
    while (tokens[at] !== '}') {
      const name = take();
      const isOptional = tokens[at] === '?';
      if (isOptional) take('?');
      take(':');
      fields.push({ name, isOptional, type: parseAlternatives() });
      if (tokens[at] === ',') take(',');
    }
    take('}');
    return { kind: 'object', fields };
  };
  const parseOne = (): DocumentedType => {
    const token = take();
    if (token === '{') return parseObject();
    if (token === 'true') return { kind: 'value', value: true };
    if (token.startsWith("'")) return { kind: 'value', value: token.slice(1, -1) };
    if (primitives.has(token)) return { kind: 'primitive', name: token };
    const definition = definitions.get(token);
    if (definition === undefined) throw new Error(`${token} is not defined`);
    return parseType(definition);
  };
  const parseListed = (): DocumentedType => {
    let type = parseOne();
    while (tokens[at] === '[]') {
      take('[]');
      type = { kind: 'list', of: type };
    }
    return type;
  };
  function parseAlternatives(): DocumentedType {
    const first = parseListed();
    const others: DocumentedType[] = [];
    while (tokens[at] === '|') {
      take('|');
      others.push(parseListed());
    }
    return others.length === 0 ? first : { kind: 'any of', types: [first, ...others] };
  }
  return parseAlternatives();
}

/** Returns a value of a type with all of its fields; a list has one item. */
export function sampleOf(type: DocumentedType): unknown {
  switch (type.kind) {
    case 'value':
      return type.value;
    case 'list':
      return [sampleOf(type.of)];
    case 'object':
      return Object.fromEntries(type.fields.map((field) => [field.name, sampleOf(field.type)]));
    case 'any of':
      return type.types[0] === undefined ? null : sampleOf(type.types[0]);
    case 'primitive':
      return {
        string: 'text',
        url: 'https://relay.example/t',
        number: 0.5,
        integer: 1,
        boolean: true,
        object: {},
        null: null,
      }[type.name];
  }
}

/** Lists the paths of the optional fields of a type in its sample: `items.0.latestRun.id`. */
export function listOptionalFields(type: DocumentedType): string[] {
  switch (type.kind) {
    case 'list':
      return listOptionalFields(type.of).map((path) => `0.${path}`);
    case 'object':
      return type.fields.flatMap(({ name, isOptional, type: inner }) => [
        ...(isOptional ? [name] : []),
        ...listOptionalFields(inner).map((path) => `${name}.${path}`),
      ]);
    case 'any of':
      return type.types[0] === undefined ? [] : listOptionalFields(type.types[0]);
    default:
      return [];
  }
}

/** Lists the differences between a value and a type: missing fields, and values of another type. Additional fields do not count. */
export function findDifferences(value: unknown, type: DocumentedType, path = ''): string[] {
  const at = path === '' ? 'the answer' : path;
  switch (type.kind) {
    case 'value':
      return value === type.value ? [] : [`${at} is not ${JSON.stringify(type.value)}`];
    case 'list':
      return Array.isArray(value)
        ? value.flatMap((item, index) => findDifferences(item, type.of, join(path, String(index))))
        : [`${at} is no list`];
    case 'any of': {
      const differences = type.types.map((each) => findDifferences(value, each, path));
      return differences.some((each) => each.length === 0) ? [] : (differences[0] ?? []);
    }
    case 'object': {
      if (!isRecord(value)) return [`${at} is no object`];
      return type.fields.flatMap((field) => {
        const inner = value[field.name];
        if (inner === undefined || (inner === null && field.isOptional)) {
          return field.isOptional ? [] : [`${join(path, field.name)} is missing`];
        }
        return findDifferences(inner, field.type, join(path, field.name));
      });
    }
    case 'primitive':
      return isPrimitive(value, type.name) ? [] : [`${at} is no ${type.name}`];
  }
}

function isPrimitive(value: unknown, name: string): boolean {
  if (name === 'null') return value === null;
  if (name === 'object') return isRecord(value);
  if (name === 'integer') return Number.isInteger(value);
  if (name === 'url') return URL.canParse(String(value));
  return typeof value === name;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
