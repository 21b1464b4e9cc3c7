import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { parse } from 'yaml';

/** Validates documents with GitHub's own language service. The lists of problems are empty for valid documents. */
export interface WorkflowValidator extends AsyncDisposable {
  validateWorkflow(text: string): Promise<string[]>;
  validateAction(text: string): Promise<string[]>;
}

interface LanguageService {
  createDocument(uri: string, text: string): object;
  createFlags(flags: Record<string, boolean>): object;
  validate(document: object, config: object): Promise<Array<{ message: string; range: { start: { line: number } } }>>;
}

/** The references to this action in this repository's documents: from within this repository, and from outside. */
const ownReference = 'your-org/mcp-eval-ci@v1';
const localReference = /(\buses:\s*)\.\/\s*$/gm;

/**
 * Opens a validator with the metadata of this repository's actions, by folder, so that an input that action.yml does not declare is an error.
 * Does not check inputs of other actions.
 */
export async function openWorkflowValidator(actionTexts: Readonly<Record<string, string>>): Promise<WorkflowValidator> {
  const directory = await mkdtemp(path.join(tmpdir(), 'language-service-'));
  const service = await bundleLanguageService(directory);
  const config = {
    // Implicit chomping is the usual way to write blocks, and harmless in these documents.
    featureFlags: service.createFlags({ all: true, blockScalarChompingWarning: false }),
    actionsMetadataProvider: {
      fetchActionMetadata: async (action: { owner: string; name: string; path?: string }): Promise<unknown> => {
        const isOwn = `${action.owner}/${action.name}` === ownReference.split('@')[0];
        const text = isOwn ? actionTexts[action.path ?? ''] : undefined;
        return text === undefined ? { name: action.name, description: '' } : parse(text);
      },
    },
  };
  let documents = 0;
  const validate = async (name: string, text: string) => {
    // The service caches by URL, so each document gets a new one.
    documents += 1;
    const document = service.createDocument(`file:///${documents}/${name}`, text);
    const diagnostics = await service.validate(document, config);
    return diagnostics.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
  };
  return {
    validateWorkflow: (text) =>
      validate('.github/workflows/workflow.yml', text.replaceAll(localReference, `$1${ownReference}`)),
    validateAction: (text) => validate('action.yml', text),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Bundles the package, because it imports JSON in a way that only bundlers support. */
async function bundleLanguageService(directory: string): Promise<LanguageService> {
  const outfile = path.join(directory, 'service.mjs');
  const entry = path.join(directory, 'entry.js');
  await writeFile(
    entry,
    `export { validate } from '@actions/languageservice';
import { FeatureFlags } from '@actions/expressions';
import { TextDocument } from 'vscode-languageserver-textdocument';
export const createDocument = (uri, text) => TextDocument.create(uri, 'yaml', 1, text);
export const createFlags = (flags) => new FeatureFlags(flags);
`,
  );
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    nodePaths: [path.resolve(import.meta.dirname, '../../../node_modules')],
    logLevel: 'error',
  });
  return (await import(pathToFileURL(outfile).href)) as LanguageService;
}
