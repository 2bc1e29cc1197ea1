/// Limits on an engine's CPU time and memory that are not user settings, for a process with thousands of engines.
///
/// The defaults are the limits for an engine on a device.
package struct PositioningEffort: Hashable, Sendable {
    /// The minimum number of particles on a map; an improbable map needs them for an estimate.
    package var fewestParticles = 100
    /// The factor on the edge of the cells of the signal field, at least 1.
    package var cellScale = 1.0
    /// Whether a global update needs a reading that no global update has used. Without a new reading, the readings of
    /// the last seconds belong to an earlier place of the device.
    package var needsNewEvidence = false
    /// Whether the beacons are tested against each other, if the settings enable the test.
    package var testsBeacons = true

    /// Creates the limits for an engine on a device.
    package init() {}
}
