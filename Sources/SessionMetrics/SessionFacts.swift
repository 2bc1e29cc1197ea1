import BeaconScanning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The values of a session from which its metrics are computed.
public struct SessionFacts: Sendable {
    /// The latest place of the device.
    package struct Place: Hashable, Sendable {
        /// The time since the place was emitted.
        package var age: Duration
        /// The 68 % error radius in metres; nil outdoors.
        package var radius: Double?
        /// The probability of the map, in [0, 1]; nil if unknown.
        package var floorCertainty: Double?

        /// Creates the values of a place.
        package init(age: Duration, radius: Double? = nil, floorCertainty: Double? = nil) {
            self.age = age
            self.radius = radius
            self.floorCertainty = floorCertainty
        }
    }

    /// The numbers of beacons that the session received in the last seconds.
    package struct Beacons: Hashable, Sendable {
        /// Beacons of the venue.
        package var known: Int
        /// Beacons that belong to no known venue.
        package var unknown: Int

        /// Creates the numbers.
        package init(known: Int, unknown: Int) {
            self.known = known
            self.unknown = unknown
        }
    }

    /// The time since the process or the session started.
    package var uptime: Duration
    /// The state of the session.
    package var state: LocalizationState
    /// The activity counters of the session.
    package var activity: ActivityCounts
    /// The number of readings that were lost because the session was slower than the source.
    package var lostReadings: Int
    /// The latest place; nil before the first one.
    package var place: Place?
    /// The numbers of received beacons; nil while no session is running.
    package var beacons: Beacons?
    /// `Localizer.consistencyRatio`.
    package var consistencyRatio: Double?
    /// `Localizer.cycleTimes`.
    package var cycleTimes: CycleTimes?
    /// The physical memory of the process in bytes; nil if unknown.
    package var residentMemory: Int?

    /// Creates the facts of a session.
    package init(
        uptime: Duration, state: LocalizationState, activity: ActivityCounts = ActivityCounts(), lostReadings: Int = 0,
        place: Place? = nil, beacons: Beacons? = nil, consistencyRatio: Double? = nil, cycleTimes: CycleTimes? = nil,
        residentMemory: Int? = nil
    ) {
        self.uptime = uptime
        self.state = state
        self.activity = activity
        self.lostReadings = lostReadings
        self.place = place
        self.beacons = beacons
        self.consistencyRatio = consistencyRatio
        self.cycleTimes = cycleTimes
        self.residentMemory = residentMemory
    }

    /// The venue whose packet the session has; nil without one.
    var venue: Venue? {
        switch state {
        case .idle, .started, .searchVenue, .getPacket, .error: nil
        case .findFloor(let venue): venue
        case .localizationRunning(let running): running.venue
        }
    }
}

extension SessionFacts {
    /// Collects the facts of a session. The caller supplies the values that a session doesn't have.
    public init(of localizer: Localizer, uptime: Duration, lostReadings: Int = 0, residentMemory: Int? = nil) async {
        self.init(
            uptime: uptime, state: await localizer.state, activity: await localizer.activityCounts,
            lostReadings: lostReadings, consistencyRatio: await localizer.consistencyRatio,
            cycleTimes: await localizer.cycleTimes, residentMemory: residentMemory)
        if let latest = await localizer.latestPlace, let age = await localizer.timeSinceLatestPlace {
            place = Place(latest, age: age)
        }
        if !state.isOver { beacons = Beacons(in: await localizer.snapshot(particles: 0)) }
    }
}

extension SessionFacts.Place {
    fileprivate init(_ place: LocatedPlace, age: Duration) {
        switch place {
        case .indoors(let position):
            self.init(age: age, radius: position.radius, floorCertainty: position.floorCertainty)
        case .outdoors: self.init(age: age)
        }
    }
}

extension SessionFacts.Beacons {
    fileprivate init(in snapshot: SessionSnapshot) {
        let known = snapshot.beacons.count { $0.isKnown }
        self.init(known: known, unknown: snapshot.beacons.count - known)
    }
}
