import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { parse } from 'yaml';

/** What is wrong with a document, in the words of GitHub's own language service; empty where nothing is. */
export interface WorkflowValidator extends AsyncDisposable {
  validateWorkflow(text: string): Promise<string[]>;
  validateAction(text: string): Promise<string[]>;
}

interface LanguageService {
  createDocument(uri: string, text: string): object;
  createFlags(flags: Record<string, boolean>): object;
  validate(document: object, config: object): Promise<Array<{ message: string; range: { start: { line: number } } }>>;
}

/** References by which this repository's documents name this action: in this repository, and from outside of it. */
const ownReference = 'your-org/mcp-eval-ci@v1';
const localReference = /(\buses:\s*)\.\/\s*$/gm;

/**
 * Opens a validator that knows the metadata of our actions, by the folder of each, so that an input that action.yml does not declare is an error.
 * Inputs of other actions are not checked.
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
    // The service caches by address.
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

/** The package imports JSON in a way that only bundlers understand. */
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
