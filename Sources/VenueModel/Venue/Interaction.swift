import IndoorVocabulary

/// Content that a venue shows when the device approaches or leaves a beacon or a place.
public struct Interaction: Hashable, Sendable {
    /// The target of the interaction.
    public enum Target: Hashable, Sendable {
        /// Any beacon of a region.
        case beacon(BeaconRegion)
        /// A room, by its ID within the venue.
        case room(Int)
        /// A geofence, by its ID within the venue.
        case fence(Int)
        /// A point of interest, by its ID within the venue.
        case pointOfInterest(Int)
    }

    /// The direction that triggers an interaction.
    public enum Trigger: String, Hashable, Sendable, CaseIterable {
        /// The device approaches or enters the target.
        case enter
        /// The device moves away from or exits the target.
        case exit
        /// Both directions.
        case both
    }

    /// A text in one language.
    public struct Content: Hashable, Sendable {
        /// The ID of the content within its interaction.
        public var id: Int
        /// The language as a BCP 47 tag, such as `en` or `de-CH`; nil for all languages.
        public var language: String?
        /// The text.
        public var text: String
        /// The image, as a URL or a path; nil if there is none.
        ///
        /// The path is relative to the packet. A ``VenueSource`` that reads packets makes it absolute if the packet has
        /// the file.
        public var image: String?
        /// A link to further information; nil if there is none.
        public var link: String?
        /// The displayed text of the link; nil for the link itself.
        public var displayLink: String?

        /// Creates content.
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

    /// The ID of the interaction within its venue.
    public var id: Int
    /// The display name.
    public var name: String
    /// The target of the interaction.
    public var target: Target
    /// The direction that triggers the interaction.
    public var trigger: Trigger
    /// The distance in metres within which a beacon or a point of interest is near, above 0. If it is nil, the distance
    /// is the reception range for a beacon, and 3 m for a point of interest. Rooms and geofences have their own
    /// boundaries.
    public var distance: Double?
    /// A text for all languages; nil if there is none.
    public var genericContent: String?
    /// Texts in several languages.
    public var contents: [Content]
    /// Custom content of the venue's owner.
    public var payload: JSONValue?

    /// Creates an interaction without checking it.
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

    /// Returns the content for a language: an exact match, otherwise the same language of another region, otherwise the
    /// content for all languages; nil if there is none.
    ///
    /// - Parameter language: A BCP 47 tag, in upper or lower case.
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

/// An event in which the device approached or left the target of an interaction.
public struct InteractionEvent: Hashable, Sendable {
    /// The time of the event on the timeline of the source.
    public var instant: Instant
    /// The time of the event on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?
    /// The venue of the event.
    public var venueID: VenueID
    /// The triggered interaction.
    public var interaction: Interaction
    /// Whether the device approached or entered the target; false if it left.
    public var isEntry: Bool

    /// Creates an event.
    package init(
        instant: Instant, unixTime: UnixTime? = nil, venueID: VenueID, interaction: Interaction, isEntry: Bool
    ) {
        self.instant = instant
        self.unixTime = unixTime
        self.venueID = venueID
        self.interaction = interaction
        self.isEntry = isEntry
    }

    /// Returns the event with its time on a wall clock; nil removes the time.
    package func timed(by clock: WallClock?, at source: Instant? = nil) -> InteractionEvent {
        var event = self
        event.unixTime = clock?.unixTime(at: source ?? instant)
        return event
    }
}
