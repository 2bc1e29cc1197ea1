import BeaconScanning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The metrics of a session.
///
/// Labels have few values: states, error codes and the venues of the session. No label contains a beacon's identity.
public enum SessionMetrics: Sendable {
    /// The names of all states, in the order of a session.
    private static let states = [
        "idle", "started", "searchVenue", "getPacket", "findFloor", "localizationRunning", "error",
    ]

    /// Returns the text of a session's metrics.
    public static func text(of facts: SessionFacts, as format: MetricText.Format = .openMetrics) -> String {
        MetricText.text(of: families(of: facts), as: format)
    }

    /// Returns the metrics of a session. The families are the same for all facts; an unknown value has no sample.
    package static func families(of facts: SessionFacts) -> [MetricFamily] {
        counters(of: facts) + gauges(of: facts) + work(of: facts)
    }

    private static func counters(of facts: SessionFacts) -> [MetricFamily] {
        let activity = facts.activity
        func counter(_ name: String, _ count: Int, _ help: String) -> MetricFamily {
            MetricFamily("indoorloc_" + name, .counter, help: help, samples: [.init(.number(Double(count)))])
        }
        return [
            counter("readings", activity.readings, "Advertisements and decoded beacons that the source delivered."),
            counter("sightings", activity.sightings, "Decoded beacons whose RSSI is a measurement."),
            counter(
                "readings_lost", facts.lostReadings, "Readings lost because the session was slower than the source."),
            counter("scan_passes", activity.passes, "Scan passes that began."),
            counter("positions", activity.positions, "Emitted indoor positions."),
            counter("outdoor_positions", activity.outdoorPositions, "Emitted outdoor positions, from satellites."),
            counter("area_events", activity.events, "Entries into rooms and geofences, and exits from them."),
            MetricFamily(
                "indoorloc_errors", .counter, help: "Reported errors by their effect on the session.",
                samples: LocalizationError.Code.allCases.map { code in
                    .init(.number(Double(activity.errorsByCode[code] ?? 0)), labels: [.init("code", code.rawValue)])
                }),
        ]
    }

    private static func gauges(of facts: SessionFacts) -> [MetricFamily] {
        func gauge(_ name: String, _ unit: MetricFamily.Unit?, _ value: Double?, _ help: String) -> MetricFamily {
            MetricFamily(
                "indoorloc_" + name, .gauge, unit: unit, help: help,
                samples: value.map { [.init(.number($0))] } ?? [])
        }
        let place = facts.place
        return [
            gauge("uptime_seconds", .seconds, facts.uptime.seconds, "Time since the start."),
            MetricFamily(
                "indoorloc_session_state", .stateSet, help: "State of the session.",
                samples: states.map { name in
                    .init(
                        .number(name == facts.state.name ? 1 : 0), labels: [.init("indoorloc_session_state", name)])
                }),
            MetricFamily(
                "indoorloc_venue_packet_version", .gauge, help: "Version of the packet of the current venue.",
                samples: facts.venue.map { venue in
                    [.init(.number(Double(venue.version)), labels: [.init("venue", "\(venue.id)")])]
                } ?? []),
            MetricFamily(
                "indoorloc_beacons", .gauge, help: "Beacons received in the last seconds, by membership of the venue.",
                samples: facts.beacons.map { beacons in
                    [("known", beacons.known), ("unknown", beacons.unknown)].map { label, count in
                        .init(.number(Double(count)), labels: [.init("membership", label)])
                    }
                } ?? []),
            gauge("position_age_seconds", .seconds, place?.age.seconds, "Time since the latest position was emitted."),
            gauge("position_radius_meters", .meters, place?.radius, "68 % error radius of the latest position."),
            gauge(
                "floor_certainty_ratio", .ratio, place?.floorCertainty,
                "Probability of the floor of the latest position."),
            gauge(
                "consistency_ratio", .ratio, facts.consistencyRatio,
                "Squared distance between the estimate and the latest evidence, relative to its expected value."),
        ]
    }

    private static func work(of facts: SessionFacts) -> [MetricFamily] {
        func histogram(_ name: String, _ times: CycleTimes.Histogram?, _ help: String) -> MetricFamily {
            MetricFamily(
                "indoorloc_" + name, .histogram, unit: .seconds, help: help,
                samples: times.map { times in
                    let bounds = CycleTimes.Histogram.bounds
                    return [.init(.histogram(bounds: bounds, counts: times.counts, sum: times.sum))]
                } ?? [])
        }
        return [
            histogram(
                "reading_duration_seconds", facts.cycleTimes?.readings, "Time that the session takes for a reading."),
            histogram(
                "update_duration_seconds", facts.cycleTimes?.updates,
                "Time that the session takes for a scheduled step, which updates the position."),
            MetricFamily(
                "process_resident_memory_bytes", .gauge, unit: .bytes, help: "Physical memory of the process.",
                samples: facts.residentMemory.map { [.init(.number(Double($0)))] } ?? []),
        ]
    }
}

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
    var venue: Venue? { state.venue }
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
