import IndoorVocabulary

/// The saved state of a session, which the next session can restore.
///
///     let memory = await localizer.suspend()             // stops without leaving any room or fence
///     …                                                  // for example, stored in a file between program runs
///     await next.restore(memory, after: .seconds(40))    // before the next session starts
///
/// A session doesn't report a position from a memory alone. The memory is the prior of the position when the device
/// next detects a beacon.
public struct SessionMemory: Hashable, Sendable {
    /// The position of the device on one map, given that the device is on that map.
    package struct Place: Hashable, Sendable {
        /// The map.
        package var mapID: MapID
        /// The probability that the device is on the map, in [0, 1].
        package var probability: Double
        /// The mean position in metres.
        package var point: MapPoint
        /// Variance along x in m², at least 0.
        package var varianceX: Double
        /// Variance along y in m², at least 0.
        package var varianceY: Double
        /// Covariance in m²; its square is at most the product of the variances.
        package var covariance: Double

        /// Creates a place.
        package init(
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
    package struct Presence<ID: Hashable & Sendable>: Hashable, Sendable {
        /// The area's number in its venue, or the name of the application's geofence.
        package var id: ID
        /// Whether the session reported the entry. It doesn't report an entry shortly after an exit from the same
        /// fence.
        package var isTold: Bool

        /// Creates a presence.
        package init(id: ID, isTold: Bool = true) {
            self.id = id
            self.isTold = isTold
        }
    }

    /// A fence that the device left.
    package struct Departure<ID: Hashable & Sendable>: Hashable, Sendable {
        /// The fence's number in its venue, or the name of the application's geofence.
        package var id: ID
        /// The time between the exit and the saved state.
        package var ago: Duration

        /// Creates a departure.
        package init(id: ID, ago: Duration) {
            self.id = id
            self.ago = ago
        }
    }

    /// The state of the device in a venue.
    package struct Stay: Hashable, Sendable {
        /// The venue.
        package var venueID: VenueID
        /// The version of the venue packet; positions and areas of another version are not valid.
        package var venueVersion: Int
        /// The position on each map; empty before the first detected beacon.
        package var places: [Place]
        /// The rooms that the device is in.
        package var rooms: [Presence<Int>]
        /// The fences that the device is in.
        package var fences: [Presence<Int>]
        /// The geofences of the application that the device is in.
        package var geofences: [Presence<String>]
        /// Fences that the device left so recently that the session doesn't report a new entry.
        package var departures: [Departure<Int>]
        /// The same for the application's geofences.
        package var geofenceDepartures: [Departure<String>]

        /// The most probable map of the device; nil before the first detected beacon.
        package var mapID: MapID? {
            places.max { ($0.probability, $1.mapID.rawValue) < ($1.probability, $0.mapID.rawValue) }?.mapID
        }

        /// Creates a stay.
        package init(
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

    /// The state in the current venue; nil if the device is in no venue.
    package var stay: Stay?
    /// The learned calibration of the device; nil if there is none.
    public var calibration: Calibration?
    /// The age of the state when the memory was saved: a session that detects no beacon saves the memory that it
    /// restored, with its age.
    public var age: Duration

    /// Creates a memory.
    package init(stay: Stay? = nil, calibration: Calibration? = nil, age: Duration = .zero) {
        self.stay = stay
        self.calibration = calibration
        self.age = age
    }

    /// Returns the memory with a greater age; a negative duration doesn't reduce the age.
    package func aged(by duration: Duration) -> SessionMemory {
        var memory = self
        memory.age = max(.zero, age) + max(.zero, duration)
        return memory
    }
}
