#!/usr/bin/env node
// Behaves as Gemini CLI does towards its provider and its servers, as far as its adapter knows it. Words in the prompt make it misbehave.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, option, post as send, print, printVersion, readEvents, readPrompt } from './scripted-parts.mjs';

printVersion('0.61.0');
const prompt = option('-p');
const does = readPrompt(prompt);
const { env } = process;
const { mcpServers } = JSON.parse(readFileSync(join(env.HOME, '.gemini/settings.json'), 'utf8'));
const [[server, { command, args: words }]] = Object.entries(mcpServers);
const connection = await connect([command, ...words], { client: 'scripted-gemini', protocolVersion: '2025-06-18' });

const prefix = `mcp_${server}_`;
const shown = does('hide the tools') ? [] : connection.tools;
const functionDeclarations = [
  { name: 'run_shell_command', description: 'Runs a command.', parametersJsonSchema: { type: 'object' } },
  ...shown.map(({ name, description, inputSchema }) => ({
    name: prefix + name,
    description,
    parametersJsonSchema: inputSchema,
  })),
];
const systemInstruction = { parts: [{ text: `You run as ${process.pid}.` }], role: 'user' };
const context = `HOME is ${env.HOME}, and now is ${new Date().toISOString()}.\n${connection.instructions}`;
const contents = [
  { role: 'user', parts: [{ text: context }] },
  { role: 'user', parts: [{ text: prompt }] },
];
const model = does('ask another model') ? 'another' : option('-m');
const ask = async (method, body) =>
  await send(
    `${env.GOOGLE_GEMINI_BASE_URL}/v1beta/models/${model}:${method}`,
    { 'x-goog-api-key': env.GEMINI_API_KEY },
    body,
  );

try {
  await ask('countTokens', { contents });
  await ask('generateContent', { contents: [{ role: 'user', parts: [{ text: 'Find a title.' }] }] });
  let calls;
  do {
    const events = readEvents(
      await ask('streamGenerateContent?alt=sse', { contents, systemInstruction, tools: [{ functionDeclarations }] }),
    );
    // The host gives each call an id of its own.
    const parts = events
      .flatMap(({ candidates }) => candidates[0].content.parts)
      .map((part, index) =>
        part.functionCall === undefined
          ? part
          : { ...part, functionCall: { ...part.functionCall, id: `${part.functionCall.name}_${Date.now()}_${index}` } },
      );
    contents.push({ role: 'model', parts });
    calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const results = [];
    for (const { id, name, args } of calls) {
      const { result, error } = await connection.call(name.slice(prefix.length), args);
      const output = error?.message ?? result.content.map((part) => part.text).join('\n');
      results.push({ functionResponse: { id, name, response: { output } } });
    }
    if (results.length > 0) contents.push({ role: 'user', parts: results });
  } while (calls.length > 0);
  print({ type: 'result', status: 'success' });
} catch (error) {
  print({ type: 'result', status: 'error', error: { type: 'ApiError', message: error.message } });
  process.exitCode = 1;
}
connection.close();
