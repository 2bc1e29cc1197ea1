/// The effort of an engine apart from its settings, for a process with thousands of engines.
///
/// The defaults are those of a device.
package struct PositioningEffort: Hashable, Sendable {
    /// The minimum number of particles on a map, which the estimate on an improbable map needs.
    package var fewestParticles = 100
    /// The factor on the edge of the cells of the signal field, at least 1.
    package var cellScale = 1.0
    /// Whether a global update needs a reading that no global update has used. Without one, the readings of the last
    /// seconds are those of the place where the device was then.
    package var needsNewEvidence = false
    /// Whether the beacons are tested against each other, if the settings ask for it.
    package var testsBeacons = true

    /// Creates the effort of a device.
    package init() {}
}
