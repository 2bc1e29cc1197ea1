import IndoorVocabulary
import VenueModel

// The state of an engine, as values: what it believes, from which readings, about which device, and when. The order in
// which they change is in PositioningEngine+Updates.swift.
extension PositioningEngine {
    /// The belief about the position of the device.
    struct Belief: Sendable {
        /// The positions on all maps.
        var filter: ParticleFilter
        /// The probability of each map, from all evidence so far.
        var floors: FloorFilter
        /// The estimate of a method without particles.
        var memoryless = SnapshotEstimate()
        /// The estimated height of the device above the floor.
        var height: DeviceHeight
        /// Index of the locked map; nil if the evidence decides.
        var lockedMapIndex: Int?
        /// The restored position of an earlier session; nil once a beacon was detected.
        var restored: RestoredPlace?
        /// The effect of the latest fix; nil if there was none, or if it was ignored.
        var fixReception: FixReception?
    }

    /// The tests that show whether the belief and the beacons can be trusted.
    struct Checks: Sendable {
        /// The tests of the beacons against each other.
        var beacons: IntegrityMonitor
        /// The test of the belief against the evidence of the last seconds.
        var consistency = ConsistencyTest()
    }

    /// What the engine knows of the device as a receiver.
    struct Device: Sendable {
        /// The receiver priors of the device models in the survey.
        let models: [String: RadioMap.Receiver]
        /// The receiver prior before any evidence.
        var prior: ReceiverOffset
        /// The named device model, while the evidence agrees with it; nil without one.
        var known: KnownDevice?
        /// The estimated receiver offset given each map.
        var offsets: [ReceiverOffset]
    }

    /// What the engine knows of the venue's plans, in addition to the signal field.
    struct Premises: Sendable {
        let anchors: AnchorField
        /// Stairs and elevators, for dead reckoning.
        let links: FloorLinks
        /// The accessible area of the plans, for dead reckoning.
        var space: FloorSpace
    }

    /// The readings of radios and of the barometer: those since the latest update, and those of the last seconds.
    struct Readings: Sendable {
        var beacons: EvidenceCollector
        /// The distances to anchors.
        var ranges: RangeCollector
        var pressure = PressureMean()
        /// Seconds since the latest barometer reading was used, while no beacon is detected.
        var pressureGap = 0.0
        /// The evidence of the beacons in the last seconds, at the latest update; nil without any.
        private(set) var window: Evidence?

        init(beacons: EvidenceCollector, ranges: RangeCollector) { (self.beacons, self.ranges) = (beacons, ranges) }

        /// Whether any beacon of the venue was detected, or a distance to an anchor was measured.
        var hasAny: Bool { beacons.hasHeard || ranges.hasMeasured }

        /// Returns and removes the evidence of the beacons since the last call; nil before any beacon and any distance.
        mutating func drainBeacons(at now: Instant, after seconds: Double) -> Evidence? {
            if let heard = beacons.drain(at: now) { return heard }
            guard ranges.hasMeasured else { return nil }
            var silent = Evidence.silent
            silent.duration = Float(max(seconds, 0.5))
            return silent
        }

        /// Sets the evidence of the last seconds. Call this after the evidence since the last update was removed.
        mutating func renewWindow(at now: Instant) {
            // Without beacons, the latest evidence stays, unless distances show where the device is now.
            window = beacons.snapshot(at: now) ?? (ranges.isMeasuring(at: now) ? nil : window)
        }

        /// Discards the readings of the last seconds: otherwise, the next look could return to the place before a fix.
        mutating func forgetWindow() {
            beacons.forgetWindow()
            ranges.forgetWindow()
            window = nil
        }
    }

    /// The steps of the device's carrier.
    struct Steps: Sendable {
        private var pedometer = Pedometer()
        /// The steps that the particles haven't made yet, the oldest first.
        var pending: [(instant: Instant, stride: ParticleFilter.Stride)] = []
        /// The time of the latest step and the device's heading at that time in radians; nil before any step.
        private(set) var latest: (instant: Instant, heading: Double?)?
        /// Sum of the step lengths since the latest hard fix, in metres.
        private(set) var walkedDistance = 0.0
        /// Number of steps with a heading so far.
        private(set) var headedCount = 0
        /// Whether a motion sensor was available at the latest advance.
        var isSensed = false

        /// Adds a reading of a motion sensor.
        ///
        /// - Parameter isOnStairs: whether the carrier climbs stairs, whose steps are short on the plan.
        mutating func observe(_ reading: SensorReading, isOnStairs: Bool) {
            switch reading {
            case .motion(let sample):
                if let length = pedometer.detect(sample) {
                    add(length: length, heading: pedometer.heading, at: sample.instant, isOnStairs)
                }
            case .step(let step):
                let heading = step.heading.map { $0 * .pi / 180 } ?? pedometer.heading
                add(length: pedometer.report(step), heading: heading, at: step.instant, isOnStairs)
            case .sighting, .advertisement, .pressure, .gnss, .fix, .range, .radio:
                break
            }
        }

        private mutating func add(length: Double, heading: Double?, at instant: Instant, _ isOnStairs: Bool) {
            let length = isOnStairs ? min(length, DeadReckoningSettings.Expert.stairTread) : length
            pending.append((instant, ParticleFilter.Stride(length: length, heading: heading)))
            walkedDistance += length
            if heading != nil { headedCount += 1 }
            latest = (instant, heading)
        }

        /// Sets the walked distance to zero, at a hard fix.
        mutating func restartDistance() { walkedDistance = 0 }

        /// Returns the time in seconds since the latest reading of a motion sensor.
        func silence(at now: Instant) -> Double {
            let never = Instant(nanoseconds: .min)
            let lastReading = max(pedometer.lastReading ?? never, latest?.instant ?? never)
            return Double(now.nanoseconds) / 1e9 - Double(lastReading.nanoseconds) / 1e9
        }
    }

    /// The times of the updates and of the looks.
    struct UpdateClock: Sendable {
        /// The instant to which the belief was advanced; nil before any.
        private(set) var latestAdvance: Instant?
        /// The instant of the latest look; nil before any, and after the map was locked or unlocked.
        private(set) var latestLook: Instant?
        /// Whether a beacon was detected or a distance was measured since the latest look.
        private var hasNewEvidence = false

        /// Notes an update; returns the time in seconds since the latest one.
        mutating func advance(to now: Instant) -> Double {
            let seconds = latestAdvance.map { max(0, $0.seconds(to: now)) } ?? 0
            latestAdvance = now
            return seconds
        }

        /// Returns the time in seconds since the latest look; nil without one.
        func secondsSinceLook(at now: Instant) -> Double? { latestLook?.seconds(to: now) }

        /// Returns whether a look is due: the first one at once, each other one after `interval` seconds.
        func isLookDue(at now: Instant, interval: Double, needsNewEvidence: Bool) -> Bool {
            (secondsSinceLook(at: now) ?? .infinity) >= interval && (hasNewEvidence || !needsNewEvidence)
        }

        mutating func noteNewEvidence() { hasNewEvidence = true }

        /// Notes that the evidence since the latest look doesn't count any more.
        mutating func forgetEvidence() { hasNewEvidence = false }

        mutating func noteLook(at now: Instant) { (latestLook, hasNewEvidence) = (now, false) }

        /// Makes a look due.
        mutating func forgetLook() { latestLook = nil }

        /// Moves the instants to a timeline with another origin.
        mutating func shift(by duration: Duration) {
            latestAdvance = latestAdvance?.advanced(by: duration)
            latestLook = latestLook?.advanced(by: duration)
        }

        /// Continues after the updates of an earlier engine.
        mutating func resume(at instant: Instant) { (latestAdvance, latestLook) = (instant, instant) }
    }
}
