import IndoorVocabulary

/// What a venue has to say where somebody comes near a beacon or a place, or goes away from it.
public struct Interaction: Hashable, Sendable {
    /// What the device comes near to.
    public enum Target: Hashable, Sendable {
        /// Any beacon of a region.
        case beacon(BeaconRegion)
        /// A room, by its number within the venue.
        case room(Int)
        /// A fence, by its number within the venue.
        case fence(Int)
        /// A point of interest, by its number within the venue.
        case pointOfInterest(Int)
    }

    /// When an interaction is told.
    public enum Trigger: String, Hashable, Sendable, CaseIterable {
        /// When the device comes near, or in.
        case enter
        /// When it goes away, or out.
        case exit
        /// Both times.
        case both
    }

    /// A text for people, in one language.
    public struct Content: Hashable, Sendable {
        /// The number that names the content within its interaction.
        public var id: Int
        /// The language as a BCP 47 tag, such as `en` or `de-CH`; nil if it is for all.
        public var language: String?
        /// The text.
        public var text: String
        /// Where an image is: a path within the packet or an address; nil without one.
        public var image: String?
        /// Where more can be read; nil if nowhere.
        public var link: String?
        /// What people see as the link; nil for the link itself.
        public var displayLink: String?

        /// Creates a content.
        public init(
            id: Int, language: String? = nil, text: String, image: String? = nil, link: String? = nil,
            displayLink: String? = nil
        ) {
            self.id = id
            self.language = language
            self.text = text
            self.image = image
            self.link = link
            self.displayLink = displayLink
        }
    }

    /// The number that names the interaction within its venue.
    public var id: Int
    /// The name for people.
    public var name: String
    /// What the device comes near to.
    public var target: Target
    /// When it is told.
    public var trigger: Trigger
    /// Metres within which a beacon or a point of interest is near, above 0; nil means as far as a beacon is heard, and 3 m
    /// around a point. Rooms and fences have an edge of their own.
    public var distance: Double?
    /// A text for people of all languages; nil without one.
    public var genericContent: String?
    /// Texts for people, by language.
    public var contents: [Content]
    /// Any content of the venue's owner.
    public var payload: JSONValue?

    /// Creates an interaction, unchecked.
    public init(
        id: Int, name: String, target: Target, trigger: Trigger = .both, distance: Double? = nil,
        genericContent: String? = nil, contents: [Content] = [], payload: JSONValue? = nil
    ) {
        self.id = id
        self.name = name
        self.target = target
        self.trigger = trigger
        self.distance = distance
        self.genericContent = genericContent
        self.contents = contents
        self.payload = payload
    }

    /// The content for people who read a language: in that very language, else in the same one of another region, else one
    /// for all; nil without any of them.
    ///
    /// - Parameter language: a BCP 47 tag, in upper or lower case.
    public func content(in language: String) -> Content? {
        let wanted = language.lowercased()
        let main = wanted.prefix { $0 != "-" }
        let tags = contents.map { $0.language?.lowercased() }
        let index =
            tags.firstIndex(of: wanted) ?? tags.firstIndex { $0?.prefix { $0 != "-" } == main }
            ?? tags.firstIndex(of: nil)
        return index.map { contents[$0] }
    }
}

/// The device came near to something that has an interaction, or went away from it.
public struct InteractionEvent: Hashable, Sendable {
    /// When it happened, on the source's timeline.
    public var instant: Instant
    /// When it happened, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?
    /// The venue in which it happened.
    public var venueID: VenueID
    /// What the venue has to say.
    public var interaction: Interaction
    /// Whether the device came near, or in; otherwise it went away.
    public var isEntry: Bool

    /// Creates an event.
    public init(
        instant: Instant, unixTime: UnixTime? = nil, venueID: VenueID, interaction: Interaction, isEntry: Bool
    ) {
        self.instant = instant
        self.unixTime = unixTime
        self.venueID = venueID
        self.interaction = interaction
        self.isEntry = isEntry
    }

    /// The event with its time on a wall clock; without one it has no such time.
    package func timed(by clock: WallClock?, at source: Instant? = nil) -> InteractionEvent {
        var event = self
        event.unixTime = clock?.unixTime(at: source ?? instant)
        return event
    }
}
