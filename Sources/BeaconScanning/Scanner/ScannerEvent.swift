import IndoorVocabulary

/// Something that a scanner tells: a pass that began or ended, or something that was heard.
///
///     for await event in scanner.events {
///         switch event.content {
///         case .scan(let scan): print(scan.kind)
///         case .advertisement(let advertisement): print(advertisement.address)
///         case .beacon(let record): print(record.beacon, record.rssi)
///         }
///     }
public struct ScannerEvent: Hashable, Sendable {
    /// What a scanner tells.
    public enum Content: Hashable, Sendable {
        /// A pass began or ended.
        case scan(ScanEvent)
        /// Something advertised, a beacon or not; where the source gives advertisements.
        case advertisement(Advertisement)
        /// A beacon was heard. Where the source gives advertisements, this comes right behind the one that held it.
        case beacon(BeaconRecord)
    }

    /// What happened.
    public var content: Content
    /// When it happened, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?

    /// Creates an event.
    public init(content: Content, unixTime: UnixTime? = nil) {
        self.content = content
        self.unixTime = unixTime
    }

    /// When it happened, on the source's timeline; nil for a pass that began before the source told any instant.
    public var instant: Instant? {
        switch content {
        case .scan(let event): event.instant
        case .advertisement(let advertisement): advertisement.instant
        case .beacon(let record): record.instant
        }
    }

    /// Creates the event of what happened, with its time on a wall clock: that of its instant, or of the present.
    init(_ content: Content, by clock: WallClock?) {
        self.init(content: content)
        unixTime = clock.flatMap { clock in instant.map(clock.unixTime) ?? clock.measuredAt }
    }
}
