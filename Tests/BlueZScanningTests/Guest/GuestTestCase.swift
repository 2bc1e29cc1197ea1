import IndoorLocalization
import XCTest

/// A test in the guest. At its end, it unplugs and stops everything that it plugged in and started.
class GuestTestCase: XCTestCase {
    private var openControllers: [VirtualController] = []
    private var openListenings: [Listening] = []
    private var openServices: GuestServices?

    override func setUp() async throws { _ = try Guest.folder() }

    override func tearDown() async throws {
        // Outside a guest the test was skipped, and there is nothing to clean up.
        guard (try? Guest.folder()) != nil else { return }
        for listening in openListenings { try await listening.stop() }
        for controller in openControllers where controller.content.value.index != nil { try await controller.unplug() }
        try await openServices?.endAll()
        try RadioSwitch.setBlocked(false)
        openListenings = []
        openControllers = []
        openServices = nil
    }

    /// Returns a controller that is plugged in.
    func pluggedIn(
        _ generation: ControllerModel.Generation = .bluetooth4,
        address: DeviceAddress = VirtualController.standardAddress, duplicateCapacity: Int = 8
    ) async throws -> VirtualController {
        let controller = VirtualController(generation, address: address, duplicateCapacity: duplicateCapacity)
        openControllers.append(controller)
        try await controller.plugIn()
        return controller
    }

    /// Returns a scan that has started.
    func listening(to source: some ScanSource) -> Listening {
        let listening = Listening(to: source)
        openListenings.append(listening)
        return listening
    }

    /// Returns services that haven't started.
    func plainServices() throws -> GuestServices {
        let services = try GuestServices()
        openServices = services
        return services
    }

    /// Returns a running message bus and bluetoothd.
    func services(isExperimental: Bool = false) async throws -> GuestServices {
        let services = try plainServices()
        try await services.startBus()
        try await services.startBluetooth(isExperimental: isExperimental)
        return services
    }
}
