import { standardError } from '@octavo/core/log';
import type { DestinationStream } from 'pino';

/** Control characters in the JSON of a line, which could move the cursor or change the title of a terminal; after escaped backslashes. */
const controls = /(?<!\\)((?:\\\\)*)\\u00(?:0[0-8bcef]|1[\da-f])/gi;
/** Control characters that JSON does not escape. */
const rawControls = /[\u007f-\u009f]/g;

/**
 * A destination of logs that writes lines for people, `[12:30:01] WARN: polls: the message`, with the other facts below. Its library is
 * loaded here, so that no other process waits for it.
 */
export async function openTerminalLog(
  destination: DestinationStream = standardError(),
  colorize = !process.env.NO_COLOR,
): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,service',
    messageFormat: '{service}: {msg}',
    singleLine: true,
    levelFirst: false,
  });
  return {
    write(line) {
      destination.write(format(withoutControls(line)) ?? line);
    },
  };
}

/** A line of JSON without characters that a terminal would obey. Texts of strangers, such as addresses, are in it. */
function withoutControls(line: string): string {
  return line.replace(controls, '$1\ufffd').replace(rawControls, '\ufffd');
}
