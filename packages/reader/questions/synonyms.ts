import { stemsOf, type Term } from '@octavo/data/terms';

/** Words for the same, in the language of offices, of computers and of everyday life. A word may be in several groups, as it has several senses. */
const groups = `
vacation holiday leave pto | salary pay wage wages compensation earnings | employee staff worker personnel | employer company firm business | boss manager supervisor
sick ill illness sickness | begin start commence | end finish stop terminate | complete finish completed finished done | create found establish make
created founded established built | buy purchase order acquire | sell sale | cost price fee charge | fix repair solve mend
error failure fault problem issue trouble | delete remove erase discard purge | show display print list | change modify edit alter adjust | allow permit let enable
forbid prohibit disallow ban block deny | limit restrict throttle cap | maximum max most | minimum min least | amount number quantity count | size length
speed rate bandwidth | attempt try trial retry | attempts tries retries prompts | picture image photo photograph | picture figure | drawing picture
phone telephone mobile | mail email e-mail message | address location | help support assistance aid | document file | directory folder
setting option parameter preference configuration | option switch flag argument | password passwd passphrase | login signin sign-in logon | logout signout logoff
user account | mac macos osx | windows win | money cash funds | refund reimbursement reimburse repayment | expense expenses costs | travel trip journey
car vehicle automobile | child kid children kids | doctor physician | required mandatory obligatory compulsory necessary | optional voluntary | deadline due
yearly annual annually | monthly month | weekly week | daily day | big large huge | small little tiny | fast quick rapid | slow sluggish | old age
answer reply response | ask request query | send submit transmit | get receive obtain fetch | download fetch retrieve | copy duplicate clone | code status value
home remote telework wfh | contract agreement | quit resign leave exit | fire dismiss terminate | hire recruit employ | default standard
customize customise configure adapt personalize | interrupted aborted broken stopped stops | version release | start launch run execute | explain describe
author writer | movie film | apartment flat | elevator lift | truck lorry | info information | docs documentation | config configuration | db database
postgres postgresql | repo repository | hr personnel | ceo director | faq questions | pwd password | app application program | program software tool
tv telly television | computer machine pc system host | server host machine | disk drive storage | space room capacity | screen monitor display | keyboard keys
key button | hit press strike | click press | window pane | tab page | website site page | link url hyperlink | web internet online | browser client
network connection | wifi wireless wlan | cable wire | plug connect attach | unplug disconnect detach | join merge combine | split divide separate
mix blend combine | fade crossfade | loud volume | quiet silent mute | sound audio noise | song track tune music | record recording | play playback
picture drawing painting | color colour | black dark | bright light | letter character | capital capitals uppercase caps | lowercase small | word term
sentence phrase | text content | page sheet | line row | row record entry | column field | table chart list | list listing | sort order arrange | order sequence
find search locate look | hide conceal | open view | close shut | save store keep | keep retain preserve | backup copy archive | restore recover recovery
undo revert rollback | replace swap substitute exchange | move shift transfer | rename name | name title called | title heading name | called named | write note
read view | erase wipe clear | clear empty reset | empty blank | full complete | partial part | whole entire | part piece portion | kind type sort
way method manner | reason cause | result outcome effect | purpose aim goal | idea concept | rule policy | law legislation act | right permission
permission access privilege | forbidden prohibited banned | legal lawful | license licence permit | copyright ownership | owner holder | member participant
group team | leader head chief chair | chairman chair chairperson | vote ballot poll | election vote | elect choose select | choose select pick | winner champion
lose loss | game match | player opponent | enemy opponent | team side | score points | point mark | level stage | round turn | move step | step stage | piece unit
board field | card deck | dice die | war battle fight | fight combat attack | attack strike | kill terminate | weapon gun | soldier troop | army troops military
ship boat vessel | plane aircraft airplane | fly flight | fuel refuel gas | train railway | road street | town city village | country nation state | capital city
population inhabitants people | people persons | person individual human | man male | woman female | boy male | girl female | baby infant | parent father mother
father dad | mother mom mum | husband spouse | wife spouse | marriage wedding | born birth | die died death dead | death decease | kill murder | execute hang
hanged executed | bury buried burial | grave tomb | medicine drug medication | disease illness | pain ache | health medical | food meal | drink beverage
eat consume | cook boil | water liquid | absorb soak | hot heat temperature warm | cold cool | weather climate | rain precipitation | sun solar | moon lunar
star stellar | planet world | earth world | sky heaven | distance far | near close | height tall high | width wide | depth deep | weight heavy weigh | length long
thick thickness | strong strength | hard difficult | easy simple | cheap inexpensive | expensive costly | free gratis | new recent | latest newest recent
current present | old former previous | previous earlier prior | next following subsequent | first initial | last final | again repeat | often frequently
frequency often | sometimes occasionally | usually normally typically generally | rarely seldom | simultaneously concurrently parallel | parallel simultaneous
automatically automatic | manually manual | secretly hidden | safe secure | secure security safety | danger risk | risk probability
chance probability likelihood odds | likely probable | share percentage proportion | percent percentage | double twice | increase raise grow | decrease reduce lower
reduce shrink smaller | expand grow | improve better enhance | worse degrade | break damage | broken damaged corrupt faulty defective | failing faulty | crash fail
crashed failed | freeze hang | hang freeze stuck | stuck blocked | lock block | unlock release | encrypt encryption cipher | decrypt decryption
hash checksum digest | sign signature | certificate cert | key token | secret password | random arbitrary | guess crack | hack attack | virus malware | spam junk
ham good | filter rule | log journal | logs logging journal | warning alert warn | alert notification notify | notify inform tell | message notification
mail letter | printer print | print printout | paper sheet | scan scanner | camera photo | video film movie | convert transform conversion | compress compression
decompress uncompress extract unpack | pack archive compress | encode encoding | decode decoding | format type | extension suffix ending | prefix beginning
import load read | export save write | upload send | sync synchronize synchronise synchronisation | mirror copy | mount attach | unmount detach | install setup
uninstall remove | upgrade update | update refresh | refresh reload | reload restart | restart reboot | boot startup | shutdown poweroff halt | power electricity
battery accumulator | charge recharge | outage failure blackout | sleep suspend | wait delay pause | delay lag | timeout expire | expire expiry expiration
duration period time | period duration interval | term period | schedule plan | calendar schedule | date day | clock time | zone timezone | meeting appointment
appointment event | todo task | task job | job work | work function | cron schedule | process task | core processor cpu | memory ram | cache buffer | domain host
dns nameserver resolver | ip address | route path | path location | location place | where location | filename name | template skeleton | sample example
example instance | instance copy | variable parameter | function routine | script program | command instruction | shell terminal console
plugin extension module addon | library package | dependency requirement | requirement prerequisite | source origin | test check | check verify validate test
verify check confirm | compare comparison | difference different differ | same identical equal | similar alike | match fit | exact precise | precise accurate
accurate precise exact | accuracy precision | wrong incorrect | correct right | true correct | false wrong | ignore skip omit | exclude omit ignore | include contain
contain include hold | support handle | handle process | manage administer | administrator admin root superuser | ordinary normal unprivileged regular
private personal | public open | anonymous guest | guest visitor | customer client | shop store | product item | item article | invoice bill | tax duty
bank account | loan credit | debt loan | income revenue earnings | profit gain | donation gift contribution | donate give contribute | sponsor donate
organization organisation | foundation organization | developer programmer maintainer | contributor developer | inventor creator | creator author founder
invent create | discover find | published released | publish release | release publish version | launch release | written wrote write author | make made
build built | hold held | keep kept | send sent | choose chosen chose | leave left | lead led | pay paid | spend spent | lose lost | find found | begin began begun
give gave given | take took taken | drive drove driven | speak spoke spoken | break broke broken | hide hid hidden | forget forgot forgotten | know knew known
show shown | grow grew grown | draw drew drawn | throw threw thrown | buy bought | sell sold | tell told | teach taught | think thought | bring brought
catch caught | win won | run ran | rise rose risen | fall fell fallen | fly flew flown | steal stole stolen | wear wore worn | swim swam | eat ate eaten
see saw seen | go went gone | come came | become became | meet met | feel felt | mean meant | lend lent | bind bound | wind wound | feed fed | lay laid | hear heard
sleep slept | deal dealt | shrink shrank shrunk | sink sank sunk | sing sang sung | ring rang rung | drink drank drunk | shoot shot | stick stuck | strike struck
swear swore sworn | tear tore torn | wake woke woken | house building | school education | teacher instructor | student pupil learner | learn study | study research
lesson exercise | exam test | language tongue | translate translation | spell spelling | typing keyboard | type key enter | enter type input | output result
screenshot snapshot | snapshot image | thumbnail preview | zoom magnify enlarge | rotate turn | crop cut | cut trim | trim cut strip | strip remove | resize scale
border frame | background wallpaper | icon symbol | symbol sign | cursor pointer | mouse pointer | laptop notebook | usb stick | stick drive | device hardware
partition volume | raid array | spare backup replacement | cluster group | node host | genealogy ancestry family | ancestor forefather | relative family
surname lastname | firstname forename | nickname alias | alias nickname synonym | abbreviation acronym | meaning definition | mean stand | fast speed
speed velocity | altitude elevation height | area surface | region area | border boundary frontier | north northern | south southern | east eastern | west western
europe european | america american | britain british uk | england english | germany german | france french | spain spanish | italy italian | japan japanese
china chinese | russia russian | jewish hebrew | king monarch | queen monarch | president head | parliament congress | government administration
revolution uprising revolt | strike walkout | worker labourer laborer | union syndicate | prison jail | prisoner inmate | court tribunal | trial court
sue litigation lawsuit litigate | warranty guarantee | liability responsibility | responsible liable | duty obligation | term tenure | serve service
replace succeed | shape form | circle round | line stroke | dot point | angle degree | equation formula | calculate compute | calculation computation | sum total
average mean | estimate approximate | roughly approximately about | exactly precisely | graph chart plot diagram | diagram chart figure | measure measurement
sensor detector | antenna aerial`
  .split(/[|\n]/)
  .map((line) => line.trim().split(/\s+/))
  .filter((words) => words.length > 1);

/** By stem, each word with those that may stand in its place. */
const alternatives = new Map<string, { readonly word: string; readonly others: readonly string[] }[]>();
for (const words of groups) {
  for (const word of words) {
    const others = words.filter((each) => each !== word);
    for (const stem of stemsOf(word).slice(0, 1))
      alternatives.set(stem, [...(alternatives.get(stem) ?? []), { word, others }]);
  }
}

/** The words that may stand in the place of one. Not all words of a stem are forms of one word: `duplicity` is none of `duplicate`. */
export function alternativesOf({ word, stem }: Term): string[] {
  const isForm = (base: string) => {
    const start = base.replace(/(?:e|y|ies|es|s|ed|ing)$/, '');
    return (
      word.startsWith(start) &&
      /^(?:|e|y|ies|ied|es|s|ed|d|r|er|ers|ing|ings|ment|ments|ion|ions)$/.test(word.slice(start.length))
    );
  };
  return (alternatives.get(stem) ?? []).flatMap(({ word: base, others }) => (isForm(base) ? others : []));
}
