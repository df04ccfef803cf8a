// An older Node hands over to the one of the packages, or says what to do.
import { launch } from './launch.js';

await launch('check');
