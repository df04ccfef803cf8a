import { resolve } from 'node:path';
import { AppError } from '@octavo/core';

/** Copies stored objects to a folder or a bucket (`s3://NAME`), from where the settings say that they are. One that is there already is left as it is. */
export async function moveObjects(place: string, dataFolder: string): Promise<void> {
  const { openObjects } = await import('@octavo/gateway');
  const bucket = /^s3:\/\/([^/]+)\/?$/.exec(place)?.[1];
  if (bucket === undefined && place.includes('://'))
    throw new AppError('invalid_input', '--objects must be a folder, or a bucket such as s3://exports');
  const to = bucket === undefined ? { folder: resolve(place) } : { bucket };
  await using source = await openObjects(process.env, { dataFolder });
  await using target = await openObjects(process.env, { dataFolder, ...to });
  let [copied, bytes] = [0, 0];
  for (const object of (await source.store.list(source.folder)).reverse()) {
    const there = await target.store.find(object.key);
    if (there?.sizeBytes === object.sizeBytes) continue;
    if (there) throw new AppError('conflict', `${place} has another ${object.key}`);
    await target.store.put(source.store.read(object), {
      keys: [object.key],
      contentType: source.contentTypeOf(object.key),
    });
    copied += 1;
    bytes += object.sizeBytes;
  }
  process.stdout.write(`objects: ${copied} copied to ${place}, ${bytes.toLocaleString('en')} bytes\n`);
}
