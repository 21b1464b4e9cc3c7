import type { HostAdapter } from './adapter.ts';
import { adapter as claudeCode } from './adapters/claude-code.ts';
import { adapter as codex } from './adapters/codex.ts';
import { adapter as copilotCli } from './adapters/copilot-cli.ts';
import { adapter as geminiCli } from './adapters/gemini-cli.ts';
import { adapter as goose } from './adapters/goose.ts';
import { adapter as opencode } from './adapters/opencode.ts';
import { adapter as qwenCode } from './adapters/qwen-code.ts';

/** The hosts that the benchmark can start. */
export const adapters: readonly HostAdapter[] = [claudeCode, codex, copilotCli, geminiCli, goose, opencode, qwenCode];
