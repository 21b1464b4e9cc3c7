import { describeError } from '../base/errors.ts';
import { describeRequest, keyRequest, type MatchSettings } from './describe-request.ts';
import { refuseRequest, type UpstreamAnswer, type UpstreamRequest, type UpstreamSession } from './exchange.ts';
import type { Hiding } from './hidden-values.ts';

/** Sends each request to the API once: the same request gets the same answer from then on. One that failed is sent again. */
export function openSendingOnce({
  settings,
  hiding,
  forward,
}: {
  settings: MatchSettings;
  hiding: Hiding;
  forward: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
}): UpstreamSession {
  const answers = new Map<string, Promise<UpstreamAnswer>>();
  return {
    answer: async (request) => {
      const key = keyRequest(describeRequest(request, settings, hiding));
      const answer = answers.get(key) ?? forward(request);
      answers.set(key, answer);
      try {
        return await answer;
      } catch (error) {
        answers.delete(key);
        return refuseRequest(`The API did not answer: ${describeError(error)}`, 502);
      }
    },
    // The recording of the written cases says what cannot be recorded.
    refuse: () => {},
  };
}
