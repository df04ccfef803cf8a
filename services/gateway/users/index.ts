export { Usernames, userText } from './usernames.ts';
