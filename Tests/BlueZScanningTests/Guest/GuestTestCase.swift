import IndoorLocalization
import XCTest

/// A test in the guest: what it plugged in and started is gone when it ends, however it ends.
class GuestTestCase: XCTestCase {
    private var openControllers: [VirtualController] = []
    private var openListenings: [Listening] = []
    private var openServices: GuestServices?

    override func setUp() async throws { _ = try Guest.folder() }

    override func tearDown() async throws {
        // Elsewhere the test was skipped, and there is nothing to put away, nor a radio switch.
        guard (try? Guest.folder()) != nil else { return }
        for listening in openListenings { try await listening.stop() }
        for controller in openControllers where controller.content.value.index != nil { try await controller.unplug() }
        try await openServices?.endAll()
        try RadioSwitch.setBlocked(false)
        openListenings = []
        openControllers = []
        openServices = nil
    }

    /// A controller that is plugged in.
    func pluggedIn(
        _ generation: ControllerModel.Generation = .bluetooth4,
        address: DeviceAddress = VirtualController.standardAddress, duplicateCapacity: Int = 8
    ) async throws -> VirtualController {
        let controller = VirtualController(generation, address: address, duplicateCapacity: duplicateCapacity)
        openControllers.append(controller)
        try await controller.plugIn()
        return controller
    }

    /// A scan that has begun.
    func listening(to source: some ScanSource) -> Listening {
        let listening = Listening(to: source)
        openListenings.append(listening)
        return listening
    }

    /// Services of which none runs yet.
    func plainServices() throws -> GuestServices {
        let services = try GuestServices()
        openServices = services
        return services
    }

    /// The message bus and bluetoothd.
    func services(isExperimental: Bool = false) async throws -> GuestServices {
        let services = try plainServices()
        try await services.startBus()
        try await services.startBluetooth(isExperimental: isExperimental)
        return services
    }
}
