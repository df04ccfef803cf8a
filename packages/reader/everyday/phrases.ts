/** A phrase that is one of several, as a whole. Words of a library are written as `DOCS`, something of it as `THING`. */
function anyOf(...phrases: readonly RegExp[]): RegExp {
  const sources = phrases.map(({ source }) =>
    source.replaceAll('DOCS', documents).replaceAll('THING', things),
  );
  return new RegExp(`^(?:${sources.join('|')})$`, 'u');
}

const documents =
  '(?:documents?|docs|files?|sources|manuals|papers|uploads|texts|books|pdfs|data|material|contents?|library|collection)';
const things =
  '(?:anything|something|some ?thing|any ?thing|some ?where|any ?where|any documents?|an? (?:document|file|manual|text|book|pdf)|some documents?|documents?|docs|files?|(?:any |some |more )?information|info|manuals?|a word)';

export const greeting = anyOf(
  /(?:hi+|hello+|hey+|hiya|howdy|yo|greetings|welcome|(?:good )?(?:morning|afternoon|evening|day))(?: (?:there|all|everyone|everybody|team|bot|again))?/,
  /hallo|guten (?:tag|morgen|abend)|moin|servus|gr(?:ü|ue)(?:ß|ss) (?:gott|dich|euch)|gr(?:ü|ue)(?:ezi|tzi)/,
  /bonjour|bonsoir|salut|hola|buen(?:os|as) (?:d[ií]as|tardes|noches)|ciao|salve|buon ?giorno|buona ?sera|ol[áa]|oi|bom dia|boa tarde/,
  /hej|hei|moi|tere|ahoj|cze[śs][ćc]|merhaba|namaste|sala+m|shalom|aloha|привет|здравствуйте|你好|こんにちは|안녕하세요/,
);
export const smallTalk = anyOf(
  /how are you(?: doing)?(?: today)?|how(?: is|'s) it going|how do you do|what'?s up|sup|(?:nice|pleased) to meet you/,
);
export const thanks = anyOf(
  /(?:(?:ok(?:ay)? )?(?:many |big )?thanks?(?: you| u)?|thx|ty|cheers|much appreciated|i appreciate it)(?: (?:so much|very much|a lot|a bunch|again|for (?:the|your) (?:help|answer)|for (?:that|everything)))*/,
  /(?:vielen )?dank(?:e)?(?: sch(?:ö|oe)n)?|merci(?: beaucoup)?|(?:muchas )?gracias|grazie(?: mille)?|obrigad[oa]|tack|bedankt|dank je/,
);
export const praise = anyOf(
  /(?:that'?s |that is |that was |you are |you're |very |so |this is )*(?:great|perfect|awesome|cool|nice|good|super|excellent|wonderful|brilliant|helpful|useful|amazing|well done)(?: (?:job|work|answer|stuff|one))?/,
  /(?:that|this|it) (?:really )?(?:helps?|helped|works|worked)(?: a lot| me)?/,
  /(?:that|this|it|you)(?:'s| is| was|'re| are)? (?:just |exactly )?what i (?:needed|wanted|was looking for|was after)/,
);
export const agreement = anyOf(
  /ok(?:ay)?|got it|i see|al+right|fine|sure|yes|yep|yeah|no|nope|hm+|aha|understood|makes sense|i don'?t know/,
  /never ?mind|forget it|sorry|test|testing|that'?s all|nothing(?: more)?|stop|cancel/,
);
export const farewell = anyOf(
  /(?:(?:ok(?:ay)?|well|thanks) )?(?:(?:good ?)?bye(?: bye)?(?: (?:for now|then))?|(?:see|talk to) (?:you|ya)(?: (?:later|soon|tomorrow|then|again|around|(?:on|next) \p{L}+))?|good ?night|farewell|take care|until (?:tomorrow|later)|have a (?:nice|good|great) (?:day|one|evening|weekend))/u,
  /tsch(?:ü|ue)ss|auf wiedersehen|au revoir|adi[oó]s|hasta luego|arrivederci/,
);
export const complaint = anyOf(
  /(?:no )?(?:sorry )?(?:but )?(?:i think )?(?:that|this|it|(?:the|your) answer|you)(?:'s| is| was| are|'re| were)? (?:(?:just|all|still|totally|completely|simply|plain|really) )*(?:wrong|incorrect|false|useless|nonsense|rubbish|unhelpful|irrelevant|mistaken|bad|terrible|an? (?:bad|wrong) answer|no answer)/,
  /(?:no )?(?:that|this|it|(?:the|your) answer)(?:(?:'s| is| was)? not| isn't| wasn't) (?:true|right|correct|helpful|useful|relevant|(?:it|(?:the|an) answer)|what i (?:asked|meant|wanted|was asking)(?: for| about)?)/,
  /(?:that|this|it|you) (?:does|did|do)(?:n't| not) (?:help|answer (?:my|the) question|make (?:any )?sense|work|understand)(?: me| at all)?|(?:that|this|it) makes no sense/,
  /wrong(?: answer)?|incorrect|not (?:true|right|correct|helpful|what i (?:asked|meant)(?: for)?)|nonsense|try again|are you sure(?: about (?:that|this|it))?|you misunderstood(?: me)?/,
  /(?:i )?(?:do not|don't|did not|didn't) (?:understand|get (?:it|that)|mean that|ask (?:for )?that)(?: (?:that|this|it|you|(?:your|the) answer))?/,
);
export const about = anyOf(
  /(?:who|what)(?: exactly)? are you|what(?:'s| is) your (?:name|purpose|job)|who (?:made|built|created|programmed) you|what is this(?: (?:site|page|tool|thing|chat))?/,
  /(?:what|which)(?: questions)? (?:can|could|do|should|may) (?:you|i|we) (?:do|ask|expect|answer)(?: (?:you|here|about|for|me|us|with this|with you))*|what are you (?:able to do|for|here for)/,
  /what (?:kind|type|sort)s? of (?:things|questions) (?:can|could|may|do) (?:i|you|we) (?:ask|answer)(?: you)?/,
  /(?:how|what) (?:can|do|does|should) (?:i|one) (?:use|ask)(?: (?:you|this|it|questions?|a question))*|how (?:does|do|can) (?:this|it|you)(?: (?:thing|tool|chat|site))? (?:work|help|assist)(?: me| us)?/,
  /(?:i need |please )?(?:some )?help(?: me)?(?: out)?(?: please)?|can you (?:help|assist)(?: me| us)?(?: please| with something)?|instructions/,
  /are you (?:an? |the )?(?:real )?(?:bot|robot|human|ai|real|person|machine|chatbot|chatgpt|gpt|llm|language model|program|assistant|there)(?: (?:person|human))?(?: or (?:just )?(?:an? )?(?:real )?\p{L}+)?/u,
  /tell (?:me|us) (?:a|another) (?:joke|story)|sing(?: me)? (?:a )?song|write(?: me)? a (?:poem|song|story)|(?:what is|what's|how is|how's) the weather(?: like)?(?: today| tomorrow)?|what (?:time|day) is it(?: now| today)?|let's (?:talk|chat)/,
  /(?:do|can) you (?:understand|speak) \p{L}+|(?:what|which) languages? (?:do|can) you (?:speak|understand)|how old are you/u,
);
export const sources = anyOf(
  /where (?:do|does|did|is|are|have) (?:you|your|this|that|it|the|these|those|all (?:this|that))(?: (?:answers?|information|info|data|facts?|knowledge|quotes?))? (?:come|came|taken|get|got|find|found|have|know)(?: (?:this|that|it|all (?:this|that)|your (?:answers?|information|data)))?(?: from)?/,
  /how do you (?:know|get)(?: (?:this|that|it|all this|your answers))?|says who|who says (?:so|that)|can i trust (?:you|this|that)/,
  /(?:(?:do|can|could) you )?(?:cite|quote|show|give|name)(?: me)?(?: the| your)? (?:sources?|references?)|(?:what|which)(?: is|'s| are)?(?: the| your)? (?:sources?|references?)(?: (?:for|of) (?:this|that|it))?|(?:your )?(?:sources?|references?)/,
  /(?:which|what) (?:document|file|page|manual) (?:is|was) (?:this|that|it) (?:from|in)/,
);
export const list = anyOf(
  /(?:(?:(?:can|could) (?:you|i)|(?:i )?(?:want|would like|need) to) )?(?:list|show|see|display|give|name|enumerate|print)(?: me| us)?(?: a list of| the names of)?(?: all)?(?: of)?(?: (?:the|your|my|available|uploaded|these|those))* DOCS(?: (?:that )?(?:you have|you know|there are|i have|i uploaded|available|that are there|in the library|uploaded))?/,
  /(?:which|what)(?: kinds? of)?(?: other)? DOCS (?:do (?:you|i) have(?: access to)?|have you (?:got|read)|do you (?:know|use|search)|can (?:you|i) (?:read|search|ask about|use)|(?:did|have) i upload(?:ed)?|(?:were|was|is|are) uploaded|are (?:there|available|loaded|in (?:the|your|this) library|in here|here))/,
  /what(?:'s| is| are| do you have) (?:all )?in (?:(?:the|your|my|this) DOCS|here|there)|what do you (?:know(?: about)?|have(?: here)?)|what did i upload|everything you (?:have|know)/,
  /(?:the )?list(?: of)?(?: all)?(?: the)? DOCS|(?:all )?(?:the |your |my )?DOCS/,
  /(?:what|which) (?:topics?|subjects?|areas?|themes?)(?: (?:can i (?:ask(?: you)?|search)|do you (?:know|cover|have)|are (?:there|covered|available)|do (?:the|your|these) DOCS cover))?(?: about| on| here)?|(?:list|show)(?: me)?(?: all)?(?: the| your)? (?:topics|subjects)/,
  /what (?:is|are) (?:the|your|my|this|these|all the) DOCS(?: all)? about|what (?:does|do) (?:the|your|my|this|these) DOCS (?:cover|contain|have)/,
  /(?:summari[sz]e|sum up|(?:an )?overview(?: of)?|(?:give|show)(?: me)? an overview(?: of)?)(?: (?:everything|it all|all|all (?:of )?(?:(?:the|your|my) )?DOCS|(?:the|your|my|these) (?:documents|docs|files|library|collection)))?/,
);
export const count = anyOf(
  /(?:how many|(?:what is )?the (?:number|count) of|count (?:all )?(?:the|your|my)?) ?DOCS(?: (?:are there(?: in (?:total|all))?|are (?:in )?here|do (?:you|i) have|have you (?:got|read)|are (?:(?:stored |uploaded )?in (?:the|your|this) library|uploaded)|do you know|(?:did|have) i upload(?:ed)?|in total))?/,
);

const which =
  /(?:which|what)(?: of)?(?: the| your| these)? (?:ones?|documents?|files?|manuals?|texts?|books?|pdfs?)/
    .source;
const relating =
  /(?:about|on|for|regarding|concerning|that (?:mentions?|covers?|describes?|deals? with|explains?|(?:is|are) about)|mention(?:s|ing)?|cover(?:s|ing)?|describ(?:es|ing|e)|deals? with|discuss(?:es|ing)?|explains?|talks? about)/
    .source;
const holding = '(?:has|have|contains?|holds?|shows?|lists?|gives?|includes?)';
const kindsOfContent = '(?: (?:numbers?|data|figures?|values?|information|info|details))?';
/** Documents on the topic in its group are looked for. */
export const find = anyOf(
  new RegExp(
    `(?:(?:do you have|have you got|is there|are there|do you know|can (?:you|i) find|find(?: me)?|search(?: for)?|look for|i(?: am|'m) looking for|i need|show me)(?: THING)?|THING|what (?:do you (?:have|know)|(?:else )?is there)|${which}(?: (?:is|are|do|does|would|has|have))?(?: (?:there|you have|you know|anything|something|information|say something))?) ${relating} (.+)`,
  ),
  new RegExp(`${which} ${holding} (?:the |any |some |all )?(.+?)${kindsOfContent}`),
  /where (?:can i (?:read|find (?:something|anything|more|out|information))|is (?:something|there anything)) (?:about|on) (.+)/,
  /(?:where is (.+) covered|is (.+) covered (?:any|some)where)/,
  /(?:where )?is (.+) (?:mentioned|described|discussed|explained)(?: (?:any|some)where)?/,
  new RegExp(`${which} (?:is|are) (.+) (?:mentioned|described|discussed|covered|explained|in)`),
  /(?:does|do) (?:any|some|one)(?: (?:of )?(?:the|your|these))? ?DOCS (?:mention|cover|describe|discuss|explain|talk about|say (?:anything|something) about) (.+)/,
);
/** One document is asked for a topic: the document in the first group, the topic in the second one. */
export const within = anyOf(
  /what (?:does|do|did) (?:the )?(.+?) (?:say|tell(?: me| us)?|have to say|mention|explain|write) (?:about|on|regarding) (.+)/,
  /what(?:'s| is| can i find) in (?:the )?(.+?) (?:about|on|regarding) (.+)/,
);
/** The names of the columns of a table are asked for. */
export const columns = anyOf(
  /(?:what|which)(?: are)?(?: the)? (?:columns?|fields?|variables?|headers?)(?: names)? (?:are (?:there )?in|is in|in|of|does|do|has) (?:the )?(.+?)(?: (?:have|has|contain))?/,
  /(?:list|show|name|give)(?: me)?(?: all)?(?: the)? (?:columns?|fields?|headers?) (?:of|in) (?:the )?(.+)/,
);
/** The document in its group is to be summed up. */
export const summary = anyOf(
  /(?:summari[sz]e|sum up|outline|open(?: me)?|read(?: me)?|introduce me to) (.+)/,
  /(?:give|show|write|make)(?: me| us)? (?:an? )?(?:(?:short|brief|quick) )?(?:summary|overview|outline|introduction)(?: of| about| on| to)? (.+)/,
  /(?:an? )?(?:(?:short|brief|quick) )?(?:summary|overview|outline) (?:of|about) (.+)|tl ?;? ?dr:?(?: of| for)? (.+)/,
  /(?:please )?tell (?:me|us)(?: something| more)? about (.+)|what can you tell (?:me|us) about (.+)/,
  /(?:what are )?the (?:main|key|most important) (?:points?|ideas?|topics?|contents?) (?:of|in) (.+)|what are the contents of (.+)/,
  /what(?: is|'s) (?:the )?(.+?) (?:all )?about|what does (?:the )?(.+?) (?:say|contain|cover|describe|tell(?: me| us)?|deal with|explain)/,
  /what is (?:in|inside) (?:the )?(.+)|what (?:can|do) i (?:find|read) in (?:the )?(.+)/,
);
/** Words before a question that is about what the documents say. */
export const sayingAbout = new RegExp(
  `what (?:does|do|is) (?:it|they|this|(?:the|your|my|these) ${documents}) (?:say|tell(?: me| us)?|said|have to say) (?:about|on) `,
);
