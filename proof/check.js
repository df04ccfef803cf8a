// An older Node hands over to the one of the packages, or says what to do.
import { launch } from '../apps/octavo/launch.js';

await launch(import.meta.url);
