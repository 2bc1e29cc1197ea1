import IndoorVocabulary

/// An event of a scanner: the beginning or the end of a pass, or a reception.
///
///     for await event in scanner.events {
///         switch event.content {
///         case .scan(let scan): print(scan.kind)
///         case .advertisement(let advertisement): print(advertisement.address)
///         case .beacon(let record): print(record.beacon, record.rssi)
///         }
///     }
public struct ScannerEvent: Hashable, Sendable {
    /// The content of an event.
    public enum Content: Hashable, Sendable {
        /// A pass began or ended.
        case scan(ScanEvent)
        /// The radio received an advertisement from a beacon or another device; only if the source delivers
        /// advertisements.
        case advertisement(Advertisement)
        /// The radio received a beacon. If the source delivers advertisements, this event directly follows the beacon's
        /// advertisement.
        case beacon(BeaconRecord)
    }

    /// The content of the event.
    public var content: Content
    /// When it happened, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?

    /// Creates an event.
    package init(content: Content, unixTime: UnixTime? = nil) {
        self.content = content
        self.unixTime = unixTime
    }

    /// When it happened, on the timeline of the source; nil for a pass that began before the first reading.
    public var instant: Instant? {
        switch content {
        case .scan(let event): event.instant
        case .advertisement(let advertisement): advertisement.instant
        case .beacon(let record): record.instant
        }
    }

    /// Creates an event with the wall-clock time of its instant, or with the current time if it has no instant.
    init(_ content: Content, by clock: WallClock?) {
        self.init(content: content)
        unixTime = clock.flatMap { clock in instant.map(clock.unixTime) ?? clock.measuredAt }
    }
}
