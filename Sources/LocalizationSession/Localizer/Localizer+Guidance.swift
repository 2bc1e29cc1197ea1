import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension Localizer {
    /// Tells where the device is: before it is located that begins there, later the positions converge to it.
    ///
    /// A hard fix is believed as far as its radius says; what is heard later may contradict it. A soft one is weighed
    /// against what is known, as what the radio hears. Before a venue is known, the fix waits for one that has its map; with a
    /// forced venue, the device counts as in it at once. The session puts its own instant into it.
    /// - Parameter fix: as `VenueMap.fix(at:radius:)` makes it of metres, pixels or a coordinate.
    /// - Returns: how far it was believed. A radius that is not above 0, a place that is no number, a map that the venue
    ///   lacks, or a place farther than 50 m and its radius off the plan is ignored, and the outcome says why.
    @discardableResult public func submit(_ fix: Fix) async -> FixOutcome {
        await guide(.fix(fix)) ?? .ignored(.methodWithoutMemory)
    }

    /// Tells where the device points, in degrees clockwise from the plan's top: headings go on from there in this session.
    ///
    /// Until a sensor of motion tells how the device is turned, it does not count.
    public func setHeading(_ course: Double) async { _ = await guide(.heading(course)) }

    /// Keeps the device on a map, whatever is heard, in each venue that has a map of that number, also in later sessions.
    ///
    /// Which map needs saying, so ``unlockFloor()`` undoes it, where ``lockIndoors(_:)`` takes on or off. A second call
    /// changes the map.
    public func lockFloor(_ map: MapID) async { _ = await guide(.lockFloor(map)) }

    /// Lets evidence decide on the floor again; without a lock, nothing happens.
    public func unlockFloor() async { _ = await guide(.lockFloor(nil)) }

    /// Whether satellites never tell that the device is outdoors, nor which venue it is in, also in later sessions.
    ///
    /// Until it is called, the setting `venueSearch.isLockedIndoors` decides. `lockIndoors(false)` undoes the lock: there is
    /// no other method for it.
    public func lockIndoors(_ isLocked: Bool) async { _ = await guide(.lockIndoors(isLocked)) }

    /// Begins with what an earlier session learned of the device: from the next venue on.
    public func setCalibration(_ calibration: Calibration) async { _ = await guide(.calibration(calibration)) }
}
