import { inspectService } from '@octavo/data/service';
import { loadServices } from '../../index.ts';
import { type Examined, type Finding, fine, wrong } from './finding.ts';

/** Checks the servers of models that the chat uses: that they are reachable, and have the models. */
export async function checkModels({ names, environment, clock }: Examined): Promise<Finding[]> {
  if (!names.includes('chat')) return [];
  const { checkServers } = await import('@octavo/chat');
  const [service] = await loadServices(['chat']);
  const config = service && inspectService(service, environment).config;
  const checks = await checkServers(config ?? {}, clock);
  return checks.map(({ setting, text, isWorking }) =>
    isWorking
      ? fine('models', `${setting}: ${text}`)
      : wrong('models', `${setting}: ${text}`, fixOf(setting)),
  );
}

function fixOf(setting: string): string {
  const prefix = setting.replace('_BASE_URL', '');
  return `start the server, or check ${setting}, ${prefix}_MODEL and ${prefix}_API_KEY`;
}
