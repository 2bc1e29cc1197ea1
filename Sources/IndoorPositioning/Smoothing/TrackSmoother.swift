import IndoorVocabulary
import VenueModel

/// A smoother that estimates the track of a device from all of a recording's readings.
///
///     var smoother = TrackSmoother(venue: office)
///     for reading in readings { smoother.observe(reading) }
///     let track = smoother.finish()
///     track.look(at: instant)
///
/// This is a two-filter smoother. One engine processes the recording from its beginning, a second one from its end, and
/// the smoother multiplies the two beliefs every half second. The motion model is reversible in time (``MotionModel``),
/// so the second engine is the same engine with reversed time. The page on the positioning model compares this method
/// with backward simulation and a grid. Sources: D. C. Fraser, J. E. Potter, *The Optimum Linear Smoother as a
/// Combination of Two Optimum Linear Filters*, IEEE Transactions on Automatic Control 14(4), 1969; with particles: G.
/// Kitagawa, *Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models*, Journal of Computational
/// and Graphical Statistics 5(1), 1996, and M. Briers, A. Doucet, S. Maskell, *Smoothing Algorithms for State-Space
/// Models*, Annals of the Institute of Statistical Mathematics 62, 2010.
///
/// Memory grows with the recording: about 16 MB per hour for the beliefs, and 150 bytes for each sighting. Smoothing
/// takes slightly more than twice the time of the engine alone.
public struct TrackSmoother: Sendable {
    private let field: SignalField
    private let venue: Venue
    private var settings: PositioningSettings
    private let seed: UInt64
    private let device: String?
    private var forward: PositioningEngine
    private var reversed = ReversedReadings()
    private var past: [(instant: Instant, belief: BeliefSample)] = []
    private var nextLook: Instant?
    private var last: Instant?

    /// Time between two estimates.
    private static let interval = Duration.milliseconds(500)
    /// Number of particles stored per estimate.
    static let guesses = 256

    /// Creates a smoother for a recording in a venue.
    ///
    /// - Parameters:
    ///   - venue: the venue of the recording, with its radio map if there is one.
    ///   - settings: the settings of both engines; the smoother uses the particle filter regardless of the method.
    ///   - device: the model of the recording device, as in ``LocalizationSettings/device``; nil if unknown.
    ///   - seed: the seed of all random numbers; the same seed gives the same track.
    public init(
        venue: Venue, settings: PositioningSettings = PositioningSettings(), device: String? = nil, seed: UInt64 = 0
    ) {
        self.init(
            venue: venue, field: SignalField(venue: venue, model: settings.signal), settings: settings, device: device,
            seed: seed)
    }

    /// Creates a smoother that shares an existing field.
    package init(
        venue: Venue, field: SignalField, settings: PositioningSettings, device: String? = nil, seed: UInt64
    ) {
        self.venue = venue
        self.field = field
        self.settings = settings
        self.settings.method = .particle
        self.seed = seed
        self.device = device
        forward = PositioningEngine(venue: venue, field: field, settings: self.settings, seed: seed)
        if let device { forward.begin(asDevice: device) }
    }

    /// Adds the recording's next reading; a reading that is earlier than the last one is treated as simultaneous with
    /// it.
    public mutating func observe(_ reading: SensorReading) {
        var reading = reading
        reading.instant = max(last ?? reading.instant, reading.instant)
        let now = reading.instant
        if let last, last.duration(to: now).seconds > SmoothedTrack.longestGap {
            look(at: last)
            nextLook = now
        }
        while let next = nextLook, next < now {
            look(at: next)
            nextLook = next.advanced(by: Self.interval)
        }
        nextLook = nextLook ?? now.advanced(by: Self.interval)
        last = now
        reversed.append(reading)
        forward.observe(reading)
    }

    private mutating func look(at instant: Instant) {
        forward.advance(to: instant)
        past.append((instant, BeliefSample(of: forward, count: Self.guesses)))
    }

    /// Ends the recording and returns its track; the track is empty if no beacon of the venue was detected.
    public consuming func finish() -> SmoothedTrack {
        guard let end = last else { return SmoothedTrack(looks: []) }
        look(at: end)
        var backward = PositioningEngine(venue: venue, field: field, settings: settings, seed: ~seed)
        if let device { backward.begin(asDevice: device) }
        let fusion = BeliefFusion(walls: venue.maps.map { WallIndex(walls: $0.walls) })
        var looks: [SmoothedTrack.Look] = []
        for (instant, belief) in past.reversed() {
            while var reading = reversed.removeLast(after: instant) {
                reading.instant = Self.mirror(reading.instant, at: end)
                backward.observe(reading)
            }
            backward.advance(to: Self.mirror(instant, at: end))
            if let look = look(at: instant, fusion(belief, BeliefSample(of: backward, count: Self.guesses))) {
                looks.append(look)
            }
        }
        return SmoothedTrack(looks: looks.reversed())
    }

    private static func mirror(_ instant: Instant, at end: Instant) -> Instant {
        Instant.zero.advanced(by: instant.duration(to: end))
    }

    private func look(at instant: Instant, _ maps: [BeliefFusion.MapBelief]) -> SmoothedTrack.Look? {
        guard let best = maps.max(by: { $0.probability < $1.probability }) else { return nil }
        let sum = maps.reduce(0) { $0 + $1.probability }
        return SmoothedTrack.Look(
            instant: instant, mapID: field.maps[best.index].mapID, probability: best.probability / sum,
            estimate: PositioningEngine.Estimate(at: best.point, radius: forward.radius(variance: best.variance)))
    }
}
