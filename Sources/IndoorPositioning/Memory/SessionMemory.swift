import IndoorVocabulary

/// What a session knows of its device, to be kept while no session is on and given to the next one.
///
///     let memory = await localizer.suspend()             // stops, and no room or fence is left
///     …                                                  // kept in a file, say, while the program does not run
///     await next.restore(memory, after: .seconds(40))   // before its start
///
/// A memory never makes a position by itself: it says where a device probably is that is heard from again.
public struct SessionMemory: Hashable, Sendable {
    /// Where on one map the device is, if it is there.
    public struct Place: Hashable, Sendable {
        /// The map.
        public var mapID: MapID
        /// How probable it is that the device is on that map, in [0, 1].
        public var probability: Double
        /// The mean of the places, in metres.
        public var point: MapPoint
        /// Their variance along x, in m², from 0.
        public var varianceX: Double
        /// Their variance along y, in m², from 0.
        public var varianceY: Double
        /// Their covariance in m²; its square is at most the product of the variances.
        public var covariance: Double

        /// Creates a place.
        public init(
            mapID: MapID, probability: Double, point: MapPoint, varianceX: Double, varianceY: Double,
            covariance: Double = 0
        ) {
            self.mapID = mapID
            self.probability = probability
            self.point = point
            self.varianceX = varianceX
            self.varianceY = varianceY
            self.covariance = covariance
        }
    }

    /// A room or fence that the device is in.
    public struct Presence<ID: Hashable & Sendable>: Hashable, Sendable {
        /// The area's number within its venue, or the name of the application's geofence.
        public var id: ID
        /// Whether its entry was told; that of a fence left a moment before is not.
        public var isTold: Bool

        /// Creates a presence.
        public init(id: ID, isTold: Bool = true) {
            self.id = id
            self.isTold = isTold
        }
    }

    /// A fence that was left.
    public struct Departure<ID: Hashable & Sendable>: Hashable, Sendable {
        /// The fence's number within its venue, or the name of the application's geofence.
        public var id: ID
        /// How long before the moment that the memory is of.
        public var ago: Duration

        /// Creates a departure.
        public init(id: ID, ago: Duration) {
            self.id = id
            self.ago = ago
        }
    }

    /// What is known of the device in a venue.
    public struct Stay: Hashable, Sendable {
        /// The venue.
        public var venueID: VenueID
        /// The edition of its packet; places and areas of another edition tell nothing.
        public var venueVersion: Int
        /// The place on each map; empty if nothing was heard yet.
        public var places: [Place]
        /// The rooms that the device is in.
        public var rooms: [Presence<Int>]
        /// The fences that the device is in.
        public var fences: [Presence<Int>]
        /// The geofences of the application that the device is in.
        public var geofences: [Presence<String>]
        /// Fences that were left so lately that entering them again is silent.
        public var departures: [Departure<Int>]
        /// The same of the application's geofences.
        public var geofenceDepartures: [Departure<String>]

        /// The map that the device most probably is on; nil if nothing was heard yet.
        public var mapID: MapID? {
            places.max { ($0.probability, $1.mapID.rawValue) < ($1.probability, $0.mapID.rawValue) }?.mapID
        }

        /// Creates a stay.
        public init(
            venueID: VenueID, venueVersion: Int, places: [Place] = [], rooms: [Presence<Int>] = [],
            fences: [Presence<Int>] = [], geofences: [Presence<String>] = [], departures: [Departure<Int>] = [],
            geofenceDepartures: [Departure<String>] = []
        ) {
            self.venueID = venueID
            self.venueVersion = venueVersion
            self.places = places
            self.rooms = rooms
            self.fences = fences
            self.geofences = geofences
            self.departures = departures
            self.geofenceDepartures = geofenceDepartures
        }
    }

    /// The venue that the device is in, and where in it; nil if it is in none.
    public var stay: Stay?
    /// What was learned of the device itself; nil if nothing was.
    public var calibration: Calibration?
    /// How old this was already when the memory was taken: a session that hears nothing hands on what it was given.
    public var age: Duration

    /// Creates a memory.
    public init(stay: Stay? = nil, calibration: Calibration? = nil, age: Duration = .zero) {
        self.stay = stay
        self.calibration = calibration
        self.age = age
    }

    /// The memory some time later; a clock that was set back makes nothing younger.
    package func aged(by duration: Duration) -> SessionMemory {
        var memory = self
        memory.age = max(.zero, age) + max(.zero, duration)
        return memory
    }
}
