import { type Config, flag, integer, refuse, type Settings, text, toAppError } from '@octavo/core';
import type { ServiceContext } from '@octavo/data/service';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Classification, Classifier } from '../classifier.ts';
import { type Label, labels } from '../model/labels.ts';
import { ThreadClassifier } from '../thread-classifier.ts';
import { OpenInferenceClassifier } from './open-inference.ts';

export const inferenceSettings = {
  INFERENCE: flag({
    default: true,
    help: 'Classifies texts: by the shipped model, or by a server if INFERENCE_URL is set',
  }),
  INFERENCE_URL: text({
    help: 'Address of a server of the Open Inference protocol (KServe v2), without /v2',
  }),
  INFERENCE_MODEL: text({ help: 'Name of its model' }),
  INFERENCE_TOKEN: text({ secret: true, help: 'Bearer token for it' }),
  INFERENCE_INPUT: text({ help: 'Its BYTES tensor for texts; by default the only one' }),
  INFERENCE_OUTPUT: text({
    help: 'Its tensor with three probabilities per text; by default the first such tensor',
  }),
  INFERENCE_LABELS: text({
    default: labels.join(','),
    help: 'Labels of the three probabilities, in order',
  }),
  INFERENCE_TIMEOUT_MS: integer({
    default: 5_000,
    min: 1,
    help: 'Longest time for one request of up to 32 texts',
  }),
} satisfies Settings;

/** The classifier that the settings ask for; none where it is switched off. */
export function openClassifier(
  config: Config<typeof inferenceSettings>,
  { log, metrics }: Pick<ServiceContext, 'log' | 'metrics'>,
): Classifier | undefined {
  const { INFERENCE_URL: url, INFERENCE_MODEL: model } = config;
  if (!config.INFERENCE) return undefined;
  if (url === undefined || model === undefined)
    return new MeasuredClassifier(new ThreadClassifier(), metrics);
  const server = new OpenInferenceClassifier({
    url,
    model,
    token: config.INFERENCE_TOKEN,
    input: config.INFERENCE_INPUT,
    output: config.INFERENCE_OUTPUT,
    labels: columnsOf(config.INFERENCE_LABELS),
    timeoutMs: config.INFERENCE_TIMEOUT_MS,
    log,
  });
  return new MeasuredClassifier(server, metrics);
}

/** Refuses settings of a server that cannot be asked. */
export function checkInference(config: Config<typeof inferenceSettings>): void {
  const { INFERENCE_URL: url, INFERENCE_MODEL: model } = config;
  const isNoAddress = url !== undefined && !/^https?:/.test(URL.parse(url)?.protocol ?? '');
  const lacksHalf = (url === undefined) !== (model === undefined);
  const isComplete = columnsOf(config.INFERENCE_LABELS).toSorted().join() === labels.toSorted().join();
  refuse({
    ...(isNoAddress && { INFERENCE_URL: 'must be an http or https address' }),
    ...(lacksHalf && { INFERENCE_MODEL: 'and INFERENCE_URL belong together' }),
    ...(!isComplete && { INFERENCE_LABELS: `must be ${labels.join(', ')} in some order` }),
  });
}

function columnsOf(names: string): readonly Label[] {
  return names.split(',').map((name) => name.trim() as Label);
}

/** Counts the classifications of a classifier. */
class MeasuredClassifier implements Classifier {
  readonly #classifier: Classifier;
  readonly #texts: Counter<'outcome'>;
  readonly #durations: Histogram;

  constructor(classifier: Classifier, registry: Registry) {
    this.#classifier = classifier;
    this.#texts = new Counter({
      name: 'sentiment_texts_total',
      help: 'Texts to classify, by outcome.',
      labelNames: ['outcome'] as const,
      registers: [registry],
    });
    for (const outcome of ['classified', 'unavailable', 'timeout']) this.#texts.inc({ outcome }, 0);
    this.#durations = new Histogram({
      name: 'sentiment_call_duration_seconds',
      help: 'Duration of calls to the classifier, with one text or many.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
      registers: [registry],
    });
  }

  get model(): string {
    return this.#classifier.model;
  }

  async classify(texts: readonly string[], signal?: AbortSignal): Promise<Classification[]> {
    const stop = this.#durations.startTimer();
    try {
      const classifications = await this.#classifier.classify(texts, signal);
      this.#texts.inc({ outcome: 'classified' }, texts.length);
      return classifications;
    } catch (error) {
      this.#texts.inc({ outcome: toAppError(error).code }, texts.length);
      throw error;
    } finally {
      stop();
    }
  }

  ping(signal: AbortSignal): Promise<void> {
    return this.#classifier.ping(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#classifier[Symbol.asyncDispose]();
  }
}
