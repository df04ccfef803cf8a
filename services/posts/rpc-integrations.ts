import { AppError } from '#kit/errors.ts';
import type { Handlers } from '#kit/rpc/index.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import type { Classifier } from './classifier.ts';
import { checkText } from './post.ts';
import { toWire } from './sentiment-message.ts';

export type Check = (signal: AbortSignal) => Promise<void>;

/** The optional parts of the backend. */
export interface OptionalParts {
  /** Absent where it is switched off. */
  readonly classifier: Classifier | undefined;
  /** For those that are on, by the names of the status report: throws where it does not answer. */
  readonly checks: Readonly<Record<string, Check>>;
}

type IntegrationHandlers = Pick<Handlers<PostServiceDefinition>, 'classifyText' | 'checkIntegrations'>;

// Less than those wait who ask whether it answers.
const checkTimeoutMs = 300;

/** Serves what of posts.v1 asks the optional parts themselves. */
export function createIntegrationHandlers({ classifier, checks }: OptionalParts): IntegrationHandlers {
  return {
    classifyText: async ({ text }, { signal }) => {
      if (!classifier) throw switchedOff('inferenceServer');
      checkText(text);
      const [classification] = await classifier.classify([text], signal);
      if (!classification) throw new Error('the classifier gave nothing for a text');
      return { classification: toWire(classification, classifier.model) };
    },

    checkIntegrations: async (_request, { signal }) => {
      const asked = Object.entries(checks).map(async ([name, check]) => ({
        name,
        problem: await problemOf(check, signal),
      }));
      return { integrations: await Promise.all(asked) };
    },
  };
}

export function switchedOff(integration: string): AppError {
  return new AppError('unavailable', `The integration ${integration} is not enabled.`, {
    reason: 'INTEGRATION_DISABLED',
    fields: { integration },
  });
}

/** Also a check that heeds no signal is late in time. */
async function problemOf(check: Check, signal: AbortSignal): Promise<string> {
  const late = AbortSignal.timeout(checkTimeoutMs);
  const tooLate = new Promise<string>((resolve) => {
    late.addEventListener('abort', () => resolve(`no answer within ${checkTimeoutMs} ms`));
  });
  const asked = check(AbortSignal.any([signal, late])).then(
    () => '',
    (error) => (error instanceof AppError ? error.message : 'does not answer'),
  );
  return Promise.race([asked, tooLate]);
}
