export { userField, userFieldLabel } from './user-field.ts';
export { noSuchUser, Usernames, userText } from './usernames.ts';
