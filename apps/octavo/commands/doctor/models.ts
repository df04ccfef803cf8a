import type { ServerCheck } from '@octavo/chat';
import { silentLog } from '@octavo/core/log';
import { inspectService } from '@octavo/data/service';
import { loadServices } from '../../index.ts';
import { databasesOf } from '../data/databases.ts';
import { type Examined, type Finding, fine, textOf, wrong } from './finding.ts';

const subject = 'models';

/**
 * Checks the servers of models that the chat uses, those of the settings and those that administrators connected: that they are
 * reachable, and have the models.
 */
export async function checkModels({ names, environment, clock }: Examined): Promise<Finding[]> {
  if (!names.includes('chat')) return [];
  const { checkConnections, checkServers } = await import('@octavo/chat');
  const [service] = await loadServices(['chat']);
  const { CHAT_SECRET, ...config } = (service && inspectService(service, environment).config) ?? {};
  const set = await checkServers(config, clock);
  const [database] = await databasesOf(['chat'], environment, silentLog);
  if (!database) return set.map(findingOf);
  const secret = CHAT_SECRET as string | undefined;
  const secretFile = service?.keptSecrets?.CHAT_SECRET ?? '';
  try {
    const connected = await checkConnections(config, { database, secret, secretFile }, clock);
    const words = connected
      ? 'nothing is connected at /settings'
      : 'nothing is connected: there is no database yet';
    const findings = [...set, ...(connected ?? [])].map(findingOf);
    return connected && connected.length > 0 ? findings : [...findings, fine(subject, words)];
  } catch (error) {
    const text = `what is connected at /settings cannot be read: ${textOf(error)}`;
    return [...set.map(findingOf), wrong(subject, text, 'mend the database of the chat')];
  }
}

function findingOf({ source, text, isWorking, fix }: ServerCheck): Finding {
  return isWorking ? fine(subject, `${source}: ${text}`) : wrong(subject, `${source}: ${text}`, fix);
}
