import { startGeminiFamily } from '../gemini-family.ts';
import type { HostStarter } from '../driver.ts';

/** Gemini CLI, as 0.61.0 was measured. */
export const geminiCliStarter: HostStarter = {
  id: 'gemini-cli',
  program: 'gemini',
  start: (place) => ({
    ...startGeminiFamily(place, { folder: '.gemini', auth: 'gemini-api-key' }),
    env: {
      GEMINI_API_KEY: place.provider.token,
      GOOGLE_GEMINI_BASE_URL: place.provider.url,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  }),
};
