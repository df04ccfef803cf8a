export { acceptInvitation, declineInvitation, listInvitations } from './invitations.ts';
export { invitationMails } from './mails.ts';
export {
  getMember,
  inviteMember,
  listMembers,
  removeMember,
  type Sharing,
  updateMember,
} from './members.ts';
export { invitationsOf, sharingOfBudget, verifyToSeeInvitations } from './on-pages.ts';
export {
  Invitation,
  Member,
  MemberInput,
  MemberPatch,
  memberRoles,
  parseMemberInput,
  parseMemberPatch,
} from './sharing.ts';
