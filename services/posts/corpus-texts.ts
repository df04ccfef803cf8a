/** The matter that the corpus is made of: words and whole sentences; `{slot}`s are filled by corpus.ts. */

export const topics: readonly { readonly tag: string; readonly nouns: string }[] = [
  {
    tag: 'cooking',
    nouns:
      'sourdough starter|lentil soup|cast-iron pan|rye loaf|chili oil|oven|ramen broth|kimchi|pancakes|knife|garlic|stock pot|pizza dough|basil|risotto|spice rack|lemon tart|dumplings|pickles|granola',
  },
  {
    tag: 'gardening',
    nouns:
      'tomato plants|compost heap|raised bed|rosemary|slugs|greenhouse|hedge|seedlings|apple tree|watering can|mulch|peonies|lawn|soil test|rain barrel|strawberries|trellis|bulbs|wheelbarrow|pruning shears',
  },
  {
    tag: 'software',
    nouns:
      'database migration|build pipeline|release notes|pull request|memory leak|test suite|query planner|cache|log file|type checker|deployment|scheduler|search index|backup|feature flag|parser|dashboard|rate limiter|stack trace|code review',
  },
  {
    tag: 'travel',
    nouns:
      'night train|hostel|ferry|mountain pass|old town|museum|visa form|backpack|harbour|bus ride|airport|street market|guidebook|campsite|viewpoint|bicycle tour|island|border crossing|youth hostel|lighthouse',
  },
  {
    tag: 'music',
    nouns:
      'guitar|choir rehearsal|vinyl|bass line|concert hall|metronome|piano lesson|string quartet|playlist|drum kit|amplifier|festival|encore|sheet music|cello|band practice|synthesizer|folk song|record shop|microphone',
  },
  {
    tag: 'running',
    nouns:
      'half marathon|interval session|trail shoes|knee|morning run|training plan|heart rate|finish line|hill repeats|parkrun|rest day|stopwatch|blisters|running club|warm-up|stretching|pace group|cross-country race|foam roller|hydration vest',
  },
  {
    tag: 'books',
    nouns:
      'paperback|book club|library card|last chapter|translation|short stories|detective novel|biography|poem|bookshelf|footnotes|audiobook|first edition|essay|bookmark|publisher|plot twist|villain|reading list|second-hand shop',
  },
  {
    tag: 'home',
    nouns:
      'leaking tap|boiler|kitchen shelf|paint roller|squeaky door|insulation|floorboards|fuse box|attic|drill|radiator|wallpaper|balcony|washing machine|toolbox|ladder|curtain rail|tiles|thermostat|neighbour',
  },
  {
    tag: 'science',
    nouns:
      'telescope|lunar eclipse|soil sample|microscope|control group|data set|tide table|fossil|weather balloon|lab notebook|comet|bird count|spectrum|hypothesis|satellite image|pendulum|enzyme|seismograph|field trip|peer review',
  },
  {
    tag: 'work',
    nouns:
      'quarterly report|meeting|interview|spreadsheet|deadline|onboarding|invoice|customer call|roadmap|budget|presentation|team lunch|commute|standing desk|calendar|survey|contract|handover|workshop|retrospective',
  },
];

export const adjectives =
  'small|old|surprisingly good|broken|brand-new|quiet|cheap|heavy|honest|slow|bright|second-hand|careful|messy|reliable|late|early|famous|local|stubborn|wonderful|terrible|plain|delicate|noisy|clever|simple|expensive|dusty|perfect';

export const verbs =
  'repair|replace|measure|clean|organize|rewrite|test|borrow|carry|check|compare|finish|improve|learn|move|order|paint|plan|record|remove|return|sell|share|start|store|study|trust|understand|upgrade|weigh';

export const givenNames =
  'Alice|Bob|Charlie|Amira|Björn|Chiara|Dmitri|Eszter|Fatima|Goran|Hana|İlker|Jürgen|Kwame|Łucja|Mei|Nnamdi|Óscar|Priya|Quỳnh|Renée|Søren|Tomáš|Ulla|Valentina|Wiremu|Ximena|Yusuf|Zoë|Aoife';

export const places =
  'Ljubljana|Göteborg|São Paulo|Kraków|İzmir|Reykjavík|Nairobi|Kyōto|Montréal|Valparaíso|Tbilisi|Hà Nội|Zürich|Aotea|Córdoba|Brno|Marseille|Thessaloniki|Bergen|Oaxaca|Leeds|Cork|Utrecht|Tartu|Ghent|Porto|Seville|Lviv|Aarhus|Lyon';

export const emoji =
  '🙂|🎉|🔥|👍🏽|👩‍💻|🏳️‍🌈|🇺🇳|❤️|🌱|🍞|🎸|📚|🏃‍♀️|🔭|✅|😅|🤔|☕|🚲|🌧️|🐈|🧰|🪴|💡|🗺️|👨‍👩‍👧‍👦|🥟|⛰️|✨|😢';

export const englishTitles: readonly string[] = [
  'How I learned to {verb} the {noun}',
  '{Adjective} {noun}: what worked and what did not',
  'Question about my {noun}',
  'The {noun} in {place} {emoji}',
  'Why you should {verb} your {noun}',
  'Notes on the {noun}, part {number}',
  '{name} and the {adjective} {noun}',
  'Week {number}: {noun} and {noun}',
  'Please help me {verb} this {noun}!',
  'Looking for a {adjective} {noun} near {place}',
  'A short guide to the {noun}',
  '{noun} update, order {code}',
];

export const englishSentences: readonly string[] = [
  'Yesterday I tried to {verb} the {noun}, and it took {number} minutes longer than the instructions said.',
  'The {adjective} {noun} is the part that nobody tells you about.',
  'If you ever visit {place}, ask {name} about the {noun}; you will not regret it.',
  'I have to {verb} the {noun} before the weekend, otherwise we start again from zero.',
  'Does anyone know where to find a {adjective} {noun} for less than {number} euros?',
  'It was {adjective} at first, but after a while the {noun} made sense to all of us.',
  '{name} told me that the {noun} and the {noun} belong together.',
  'We compared {number} of them side by side, and the {adjective} one won every time.',
  'To be honest, I was disappointed: the {noun} never arrived and nobody answered my messages.',
  'What a great day! The {noun} turned out {adjective} and everyone was happy {emoji}',
  'First {verb} the {noun}, then wait, then {verb} it once more.',
  'There is a longer write-up with pictures at https://example.org/{tag}/{number}/{code} if you want the details.',
  'My rule for this year: {verb} less, {verb} more, and never trust a {adjective} {noun}.',
  'In {place} they do it differently, with a {noun} instead of a {noun}.',
  'Thanks to @{name} for the idea {emoji} #{tag}',
  'The price went up by {number}% since last year, which is why I would rather {verb} the old one.',
  'This is the best {noun} that I have ever had, and I have had a few.',
  'After {number} attempts I gave up and asked {name}, who fixed it with a {adjective} {noun}.',
  'Nothing about the {noun} is difficult, you only need time and a {adjective} friend.',
  'Reference {code}: keep the receipt, you will need it to {verb} the {noun}.',
  'I still do not understand why it works, but it does.',
  'The rest of the day was {adjective}.',
  'Has it been the same for you?',
  'More about that next week {emoji}',
];

/** Other languages: titles, a bar, then sentences. Every script that the pages and the search must bear. */
export const languages: readonly { readonly titles: string; readonly sentences: string }[] = [
  {
    titles: 'Frische Brötchen aus {place}|Größere Übung für {name}|Straßenfest am Samstag, Nr. {number}',
    sentences:
      'Gestern haben wir {number} Äpfel geerntet und daraus Mus gekocht.|Das hätte ich ohne {name} nie geschafft, vielen Dank!|Die Züge nach {place} fahren wieder pünktlich, außer am Sonntag.|Schön war es trotzdem, auch wenn es die ganze Zeit geregnet hat.|Weiß jemand, wo man eine günstige Säge ausleihen kann?',
  },
  {
    titles: 'Où trouver un bon café à {place} ?|L’été dernier, chapitre {number}|Ça marche enfin !',
    sentences:
      'Hier soir, {name} a préparé un gâteau aux noix pour toute l’équipe.|Le marché de {place} est ouvert jusqu’à {number} heures.|Je n’ai pas compris la dernière étape, quelqu’un peut m’aider ?|C’était très déçu de la livraison, mais le service a été parfait.|À bientôt, et merci pour vos réponses.',
  },
  {
    titles: '¿Quién viene a {place}?|El niño y la bicicleta|Receta número {number} para mañana',
    sentences:
      'Ayer caminamos {number} kilómetros por la montaña y volvimos muy contentos.|¡Qué alegría encontrar a {name} después de tantos años!|No me gustó nada la película, demasiado larga.|En {place} llovió toda la semana.|Mañana les cuento cómo terminó.',
  },
  {
    titles: 'Manhã de neblina em {place}|Uma canção para {name}|Lição {number}: não desistir',
    sentences:
      'O pão ficou ótimo, mas a massa precisa de {number} horas de descanso.|Não há nada como uma tarde tranquila em {place}.|Obrigado, {name}, pela ajuda com a mudança.|Amanhã continuamos com o próximo capítulo.',
  },
  {
    titles: 'Zażółć gęślą jaźń|Wycieczka do {place}|Pytanie numer {number}',
    sentences:
      'Wczoraj znowu padał śnieg i zostaliśmy w domu.|{name} upiekła szarlotkę, była przepyszna.|Czy ktoś wie, ile kosztuje bilet do {place}?|Naprawa zajęła {number} minut, mogło być gorzej.',
  },
  {
    titles: 'Příliš žluťoučký kůň|Výlet do {place}|Pokus číslo {number}',
    sentences:
      'Včera jsme s {name} opravili starou lampu.|Bylo to těžší, než jsem čekal, ale povedlo se.|Za {number} korun je to dobrá koupě.|Příště zkusíme jinou cestu.',
  },
  {
    titles: 'Işık ve gölge|İlk yolculuk: {place}|{number} dakikada çorba',
    sentences:
      'İstanbul’dan {place} yönüne giden tren bugün çok kalabalıktı.|{name} ile ılık bir çay içtik ve uzun uzun konuştuk.|Bu kitabı okumadan önce ikincisini almayın.|Toplam {number} sayfa, bir günde bitti.',
  },
  {
    titles: 'Phở buổi sáng ở {place}|Chuyến đi thứ {number}|Câu hỏi nhỏ',
    sentences:
      'Hôm qua trời mưa to nên chúng tôi ở nhà nấu ăn.|{name} nói rằng quán này ngon nhất thành phố.|Giá chỉ {number} nghìn đồng, rất đáng tiền.|Cảm ơn mọi người đã giúp đỡ.',
  },
  {
    titles: 'Ο δρόμος προς {place}|Ο ΟΔΥΣΣΕΥΣ και η θάλασσα|Μάθημα {number}',
    sentences:
      'Χθες περπατήσαμε ως το λιμάνι και ήπιαμε καφέ.|Ο καιρός ήταν υπέροχος, όπως πάντα στις διακοπές.|Η {name} έφερε {number} βιβλία από τη βιβλιοθήκη.|Δεν ξέρω πώς τελειώνει, μη μου το πείτε.',
  },
  {
    titles: 'Утро в городе {place}|Вопрос про ремонт, часть {number}|Съешь ещё этих мягких булок',
    sentences:
      'Вчера мы целый день собирали грибы и очень устали.|{name} обещает показать фотографии на следующей неделе.|Мне не понравилось: долго, дорого и холодно.|Всего за {number} рублей нашёл отличную книгу.|Спасибо всем, кто помог советом!',
  },
  {
    titles: 'Їжак і яблука|Подорож до {place}|Запитання {number}',
    sentences:
      'Сьогодні ґанок пофарбували в зелений колір.|{name} приготувала борщ, було дуже смачно.|Залишилося {number} сторінок до кінця.|Дякую за вашу допомогу.',
  },
  {
    titles: 'رحلة إلى {place}|سؤال رقم {number}|قهوة الصباح مع الأصدقاء',
    sentences:
      'كان الطقس جميلاً أمس فخرجنا للمشي على الشاطئ.|قالت {name} إن الكتاب يستحق القراءة.|انتظرنا {number} دقيقة ولم يصل القطار.|شكراً جزيلاً لكم جميعاً.',
  },
  {
    titles: 'טיול אל {place}|שאלה מספר {number}|לחם טרי בבוקר',
    sentences:
      'אתמול ירד גשם כל היום ונשארנו בבית.|{name} הכינה מרק נהדר לכולם.|נשארו רק {number} כרטיסים למופע.|תודה רבה על העזרה.',
  },
  {
    titles: 'सुबह की सैर|{place} की यात्रा|प्रश्न {number}',
    sentences:
      'कल हमने पूरे परिवार के साथ खाना बनाया।|{name} ने कहा कि यह किताब बहुत अच्छी है।|केवल {number} रुपये में इतना अच्छा सामान मिला।|आप सबका बहुत धन्यवाद।',
  },
  {
    titles: 'বৃষ্টির দিন|{place} ভ্রমণ|প্রশ্ন {number}',
    sentences:
      'গতকাল সারাদিন বৃষ্টি হয়েছে।|{name} আমাদের জন্য মাছ রান্না করেছে।|মাত্র {number} টাকায় বইটি কিনলাম।|সবাইকে ধন্যবাদ।',
  },
  {
    titles: 'மழைக்காலம்|{place} பயணம்|கேள்வி {number}',
    sentences:
      'நேற்று முழுவதும் மழை பெய்தது.|{name} எங்களுக்கு தோசை செய்தார்.|{number} ரூபாய்க்கு நல்ல புத்தகம் கிடைத்தது.|அனைவருக்கும் நன்றி.',
  },
  {
    titles: 'เช้าวันใหม่ที่ {place}|คำถามข้อที่ {number}|ร้านกาแฟใกล้บ้าน',
    sentences:
      'เมื่อวานฝนตกทั้งวันเราเลยอยู่บ้านทำอาหาร|{name} บอกว่าร้านนี้อร่อยที่สุด|ราคาแค่ {number} บาทเท่านั้น|ขอบคุณทุกคนมากครับ',
  },
  {
    titles: '周末去{place}旅行|第{number}次尝试做面包|关于旧自行车的问题',
    sentences:
      '昨天我们一起修好了厨房的水龙头，花了{number}分钟。|{name}说这本书值得慢慢读。|说实话，我有点失望，东西一直没有送到。|天气很好，大家都很开心！|下次再告诉你们结果。',
  },
  {
    titles: '臺北的早餐店|第{number}天：單車環島|給{name}的一封信',
    sentences:
      '今天騎了{number}公里，雖然很累，但是風景真的很美。|{name}推薦的豆漿店果然要排隊。|謝謝大家的幫忙與鼓勵。|明天繼續往{place}出發。',
  },
  {
    titles: '{place}への旅、その{number}|新しいギターを買いました|パン作りのコツを教えてください',
    sentences:
      '昨日は雨だったので、家でゆっくり本を読みました。|{name}さんに教えてもらった店は、とてもおいしかったです。|修理には{number}分かかりましたが、うまくいきました。|正直に言うと、少しがっかりしました。|また来週書きます。',
  },
  {
    titles: '{place} 여행기 {number}|아침 산책|새 자전거를 샀어요',
    sentences:
      '어제는 비가 와서 집에서 책을 읽었습니다.|{name} 씨가 추천한 식당은 정말 맛있었어요.|수리하는 데 {number}분이 걸렸습니다.|도와주셔서 감사합니다.',
  },
  {
    titles: 'დილა {place}-ში|კითხვა {number}|ახალი წიგნი',
    sentences:
      'გუშინ მთელი დღე წვიმდა.|{name} ძალიან გემრიელი ხაჭაპური გამოაცხო.|სულ რაღაც {number} ლარი დაჯდა.|დიდი მადლობა ყველას.',
  },
  {
    titles: 'Առավոտը {place}ում|Հարց {number}|Նոր գիրք',
    sentences:
      'Երեկ ամբողջ օրը անձրև էր։|{name}ը շատ համեղ հաց թխեց։|Ընդամենը {number} դրամ արժեր։|Շնորհակալություն բոլորին։',
  },
  {
    titles: 'ጥያቄ {number}|ጉዞ ወደ {place}|አዲስ መጽሐፍ',
    sentences: 'ትናንት ቀኑን ሙሉ ዝናብ ነበር።|{name} ጥሩ ቡና አፈላች።|ዋጋው {number} ብር ብቻ ነው።|ሁላችሁንም አመሰግናለሁ።',
  },
];
